#include "engine/device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <driver_types.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <cstdlib>

#include "engine/failure.h"
#include "engine/torch_message.h"
#include "values/virtual_device.h"

// Its own header wants the headers of cuBLAS and cuSPARSE, which are not needed here.
namespace at::cuda {
cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
}

namespace torchmem::engine {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

// "91900" as "9.19.0".
std::string cudnn_version(long version) {
  if (version <= 0) return "";
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string cuda_version(long version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

void limit_allocator(std::optional<std::uint64_t> limit_bytes, c10::DeviceIndex index) {
  if (!limit_bytes) return allocator::setMemoryFraction(1.0, index);
  const auto total = static_cast<double>(at::cuda::getDeviceProperties(index)->totalGlobalMem);
  // The allocator multiplies the fraction by the total and cuts off: half a byte more makes the product
  // exact.
  allocator::setMemoryFraction(std::min(1.0, (static_cast<double>(*limit_bytes) + 0.5) / total), index);
}

c10::Device open_device(const RunRequest& request) {
  if (request.device_kind == "virtual" && !values::virtual_device().present()) {
    throw Failure(FailureKind::unavailable,
                  "The virtual GPU was asked for, but its libraries were not loaded into the engine.");
  }
  if (request.alloc_conf) {
    setenv("PYTORCH_CUDA_ALLOC_CONF", request.alloc_conf->c_str(), 1);
    unsetenv("PYTORCH_ALLOC_CONF");
  }
  const int count = c10::cuda::device_count();
  if (count == 0) {
    throw Failure(
        FailureKind::unavailable,
        "No CUDA device was found. Without one, use --device virtual, which needs no GPU and no driver.");
  }
  if (request.device_index < 0 || request.device_index >= count) {
    throw Failure(FailureKind::unavailable, "There is no CUDA device " +
                                                std::to_string(request.device_index) + ": this machine has " +
                                                std::to_string(count) + ", counted from 0.");
  }
  const auto index = static_cast<c10::DeviceIndex>(request.device_index);
  try {
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    c10::cuda::set_device(index);
    if (request.limit_bytes) limit_allocator(request.limit_bytes, index);
  } catch (const c10::Error& error) {
    const std::string text = parse_torch_message(error.what_without_backtrace()).text;
    if (request.alloc_conf) {
      throw Failure(FailureKind::bad_usage,
                    "PyTorch refuses the allocator settings \"" + *request.alloc_conf + "\": " + text);
    }
    throw Failure(FailureKind::unavailable, "CUDA could not be initialised: " + text);
  }
  return {c10::DeviceType::CUDA, index};
}

nlohmann::json device_facts(const RunRequest& request, c10::Device device) {
  const auto* properties = at::cuda::getDeviceProperties(device.index());
  const auto& hooks = at::detail::getCUDAHooks();
  nlohmann::json facts = {
      {"device",
       {{"kind", request.device_kind},
        {"index", device.index()},
        {"name", properties->name},
        {"total_bytes", properties->totalGlobalMem}}},
      {"software",
       {{"torch", TORCH_VERSION},
        {"cuda", cuda_version(hooks.versionCUDART())},
        {"cudnn", cudnn_version(hooks.versionCuDNN())}}},
  };
  if (auto* profile_json = values::virtual_device().profile_json) {
    std::string text(static_cast<std::size_t>(std::max(0, profile_json(nullptr, 0))) + 1, '\0');
    profile_json(text.data(), text.size());
    const auto profile = nlohmann::json::parse(text.c_str(), nullptr, /*allow_exceptions=*/false);
    if (profile.is_object() && profile.contains("id")) facts["device"]["profile"] = profile["id"];
  }
  return facts;
}

}  // namespace torchmem::engine
