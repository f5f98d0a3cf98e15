// cuFFT: plans are made and executed; how large a plan's work area is only cuFFT knows: 0, and listed.
#include <cstddef>

#include "answer.h"
#include "assumptions.h"
#include "core.h"
#include "export.h"

namespace {

void computed() { tmv_loaded(torchmem::vgpu::Load::kernel); }

}  // namespace

TMV_EXPORT int cufftCreate(int* plan) {
  tmv_loaded(torchmem::vgpu::Load::cufft_plan);
  *plan = 1;  // a plan's number is not looked at again
  return 0;
}

TMV_EXPORT int cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, int, long long*,
                                   long long, long long, int, long long, size_t* bytes, int) {
  *bytes = 0;
  tmv_count_workspace("cufft", "cufftXtMakePlanMany", "", 0, 2);
  return 0;
}

TMV_ANSWER(cufftDestroy)
TMV_ANSWER(cufftSetAutoAllocation)
TMV_ANSWER(cufftSetStream)
TMV_ANSWER(cufftSetWorkArea)
TMV_KERNEL(cufftXtExec)
