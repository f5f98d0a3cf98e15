#include "values/tensor_memory.h"

namespace torchmem::values {

std::uint64_t storage_address(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda() || !tensor.has_storage() || tensor.layout() != at::kStrided)
    return 0;
  if (tensor.is_nested() || tensor.key_set().has(c10::DispatchKey::Python))
    return 0;  // stands for others (a fake tensor for none), which have the memory, or has them in one
  return reinterpret_cast<std::uint64_t>(tensor.storage().unsafeGetStorageImpl()->data_ptr().get());
}

}  // namespace torchmem::values
