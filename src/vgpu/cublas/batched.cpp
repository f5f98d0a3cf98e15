// The batched factorizations that tell the host at once whether their arguments were right: they were.
#include "core.h"
#include "export.h"

namespace {

int computed(int* info) {
  tmv_loaded(torchmem::vgpu::Load::kernel);
  tmv_loaded(torchmem::vgpu::Load::cublas_kernel);
  if (info) *info = 0;
  return 0;
}

}  // namespace

// Arguments as in cublas_api.h, arrays of any type as arrays of pointers.
#define TMV_GEQRF(name)                                                                   \
  TMV_EXPORT int name(void*, int, int, void* const*, int, void* const*, int* info, int) { \
    return computed(info);                                                                \
  }
#define TMV_GETRS(name)                                                                             \
  TMV_EXPORT int name(void*, int, int, int, const void* const*, int, const int*, void* const*, int, \
                      int* info, int) {                                                             \
    return computed(info);                                                                          \
  }
#define TMV_GELS(name)                                                                                  \
  TMV_EXPORT int name(void*, int, int, int, int, void* const*, int, void* const*, int, int* info, int*, \
                      int) {                                                                            \
    return computed(info);                                                                              \
  }

TMV_GEQRF(cublasSgeqrfBatched)
TMV_GEQRF(cublasDgeqrfBatched)
TMV_GEQRF(cublasCgeqrfBatched)
TMV_GEQRF(cublasZgeqrfBatched)
TMV_GETRS(cublasSgetrsBatched)
TMV_GETRS(cublasDgetrsBatched)
TMV_GETRS(cublasCgetrsBatched)
TMV_GETRS(cublasZgetrsBatched)
TMV_GELS(cublasSgelsBatched)
TMV_GELS(cublasDgelsBatched)
TMV_GELS(cublasCgelsBatched)
TMV_GELS(cublasZgelsBatched)
