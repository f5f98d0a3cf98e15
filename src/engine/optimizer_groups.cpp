#include "engine/optimizer_groups.h"

#include <ATen/native/ForeachUtils.h>
#include <ATen/ops/view_as_real.h>

namespace torchmem::engine {

std::vector<std::vector<std::size_t>> group_by_device_and_dtype(const std::vector<at::Tensor>& tensors) {
  std::vector<std::vector<std::size_t>> groups;
  if (tensors.empty()) return groups;
  const at::native::nested_optional_tensorvec_t lists = {{tensors.begin(), tensors.end()}};
  for (const auto& [key, group] :
       at::native::_group_tensors_by_first_tensors_device_and_dtype(lists, /*with_indices=*/true)) {
    groups.emplace_back(group.second.begin(), group.second.end());
  }
  return groups;
}

std::vector<at::Tensor> pick(const std::vector<at::Tensor>& tensors,
                             const std::vector<std::size_t>& positions) {
  std::vector<at::Tensor> picked;
  picked.reserve(positions.size());
  for (const auto position : positions) {
    const auto& tensor = tensors[position];
    picked.push_back(tensor.is_complex() ? at::view_as_real(tensor) : tensor);
  }
  return picked;
}

}  // namespace torchmem::engine
