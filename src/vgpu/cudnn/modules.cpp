#include "vgpu/cudnn/modules.h"

#include <cstring>

#include "vgpu/device/core.h"

namespace torchmem::vgpu {
namespace {

bool is_convolution(const char* operation) { return strncmp(operation, "conv_", 5) == 0; }

}  // namespace

void plan_sought(const char* operation) {
  if (is_convolution(operation)) tmv_loaded(Load::convolution_plan);
}

void plan_executed(const char* operation) {
  tmv_loaded(Load::kernel);
  if (is_convolution(operation)) tmv_loaded(Load::convolution_kernel);
}

void recurrent_network_set_up() { tmv_loaded(Load::recurrent); }

}  // namespace torchmem::vgpu
