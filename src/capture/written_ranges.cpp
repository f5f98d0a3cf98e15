#include "capture/written_ranges.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "capture/tensor_memory.h"

namespace torchmem::capture {
namespace {

/// Operators that change what a tensor is, not what its memory holds, and yet mark it as written.
constexpr std::array<std::string_view, 17> kMemoryKept = {
    "aten::_resize_output_", "aten::as_strided_", "aten::detach_",    "aten::record_stream", "aten::rename_",
    "aten::requires_grad_",  "aten::resize_",     "aten::resize_as_", "aten::retain_grad",   "aten::set_",
    "aten::set_data",        "aten::squeeze_",    "aten::swapaxes_",  "aten::swapdims_",     "aten::t_",
    "aten::transpose_",      "aten::unsqueeze_",
};

using Written = void (*)(std::uint64_t, std::size_t);

void report_tensor(const at::Tensor& tensor, Written written) {
  const std::uint64_t base = storage_address(tensor);
  if (base == 0 || tensor.numel() == 0) return;
  std::uint64_t elements = 1;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    elements += static_cast<std::uint64_t>((tensor.size(i) - 1) * tensor.stride(i));
  }
  const auto offset = static_cast<std::uint64_t>(tensor.storage_offset()) * tensor.itemsize();
  written(base + offset, elements * tensor.itemsize());
}

}  // namespace

std::vector<std::uint32_t> written_arguments(const at::RecordFunction& fn) {
  std::vector<std::uint32_t> positions;
  const auto schema = fn.operator_schema();
  if (!schema || std::find(kMemoryKept.begin(), kMemoryKept.end(), schema->name()) != kMemoryKept.end())
    return positions;
  const auto& arguments = schema->arguments();
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].alias_info() != nullptr && arguments[i].alias_info()->isWrite()) positions.push_back(i);
  }
  return positions;
}

void report_written(const at::RecordFunction& fn, const std::vector<std::uint32_t>& arguments,
                    Written written) {
  const auto inputs = fn.inputs();
  for (const auto position : arguments) {
    if (position >= inputs.size()) continue;
    const auto& value = inputs[position];
    if (value.isTensor()) {
      report_tensor(value.toTensor(), written);
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) report_tensor(tensor, written);
    }
  }
}

}  // namespace torchmem::capture
