// The device reads its environment at first use: two H200s, in an address space that is the same everywhere.
#include <cstdlib>
#include <initializer_list>

namespace {

const bool is_set = [] {
  setenv("TORCHMEM_VGPU_PROFILE", TEST_PROFILE, 1);
  setenv("TORCHMEM_VGPU_DEVICES", "2", 1);
  setenv("TORCHMEM_VGPU_SPACE", "model", 1);
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "TORCHMEM_AGENT", "TORCHMEM_RUN_DIR"}) unsetenv(name);
  return true;
}();

}  // namespace
