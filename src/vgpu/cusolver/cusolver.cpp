// cuSOLVER: every call that PyTorch makes succeeds. What workspace a solver needs is not known: it is taken
// as 0 and listed.
#include <cstddef>

#include "answer.h"
#include "assumptions.h"
#include "core.h"
#include "export.h"

namespace {

void computed() { tmv_loaded(torchmem::vgpu::Load::kernel); }

// Gives the caller a handle that is never followed.
int made(void** handle) {
  static char object;
  *handle = &object;
  return 0;
}

template <class Number>
void unknown_size(const char* operation, long pointer) {
  *reinterpret_cast<Number*>(pointer) = 0;
  tmv_count_workspace("cusolver", operation, "", 0, 2);
}

}  // namespace

TMV_EXPORT int cusolverDnCreate(void** handle) {
  tmv_loaded(torchmem::vgpu::Load::cusolver_handle);
  return made(handle);
}

TMV_EXPORT int cusolverDnCreateGesvdjInfo(void** handle) { return made(handle); }

TMV_EXPORT int cusolverDnCreateParams(void** handle) { return made(handle); }

TMV_EXPORT int cusolverDnCreateSyevjInfo(void** handle) { return made(handle); }

// Functions that tell a workspace's size, and which of their arguments points to it. Arguments are integers
// and pointers only, so that each takes one register or stack slot of 8 bytes.
#define ARGUMENTS                                                                                      \
  long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10, long a11, \
      long a12, long a13, long a14, long a15, long a16, long a17, long a18, long a19
#define UNUSED                                                                                         \
  (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8, (void)a9, (void)a10, \
      (void)a11, (void)a12, (void)a13, (void)a14, (void)a15, (void)a16, (void)a17, (void)a18, (void)a19
#define ELEMENTS_AT(name, position)        \
  TMV_EXPORT int name(ARGUMENTS) {         \
    UNUSED;                                \
    unknown_size<int>(#name, a##position); \
    return 0;                              \
  }
#define BYTES_AT(name, on_device, on_host)      \
  TMV_EXPORT int name(ARGUMENTS) {              \
    UNUSED;                                     \
    unknown_size<size_t>(#name, a##on_device);  \
    *reinterpret_cast<size_t*>(a##on_host) = 0; \
    return 0;                                   \
  }

ELEMENTS_AT(cusolverDnCgeqrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnCgesvd_bufferSize, 4)
ELEMENTS_AT(cusolverDnCgesvdaStridedBatched_bufferSize, 17)
ELEMENTS_AT(cusolverDnCgesvdjBatched_bufferSize, 12)
ELEMENTS_AT(cusolverDnCgesvdj_bufferSize, 13)
ELEMENTS_AT(cusolverDnCgetrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnCheevd_bufferSize, 8)
ELEMENTS_AT(cusolverDnCheevjBatched_bufferSize, 8)
ELEMENTS_AT(cusolverDnCheevj_bufferSize, 8)
ELEMENTS_AT(cusolverDnCpotrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnCsytrf_bufferSize, 5)
ELEMENTS_AT(cusolverDnCungqr_bufferSize, 8)
ELEMENTS_AT(cusolverDnCunmqr_bufferSize, 12)
ELEMENTS_AT(cusolverDnDgeqrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnDgesvd_bufferSize, 4)
ELEMENTS_AT(cusolverDnDgesvdaStridedBatched_bufferSize, 17)
ELEMENTS_AT(cusolverDnDgesvdjBatched_bufferSize, 12)
ELEMENTS_AT(cusolverDnDgesvdj_bufferSize, 13)
ELEMENTS_AT(cusolverDnDgetrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnDorgqr_bufferSize, 8)
ELEMENTS_AT(cusolverDnDormqr_bufferSize, 12)
ELEMENTS_AT(cusolverDnDpotrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnDsyevd_bufferSize, 8)
ELEMENTS_AT(cusolverDnDsyevjBatched_bufferSize, 8)
ELEMENTS_AT(cusolverDnDsyevj_bufferSize, 8)
ELEMENTS_AT(cusolverDnDsytrf_bufferSize, 5)
ELEMENTS_AT(cusolverDnSgeqrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnSgesvd_bufferSize, 4)
ELEMENTS_AT(cusolverDnSgesvdaStridedBatched_bufferSize, 17)
ELEMENTS_AT(cusolverDnSgesvdjBatched_bufferSize, 12)
ELEMENTS_AT(cusolverDnSgesvdj_bufferSize, 13)
ELEMENTS_AT(cusolverDnSgetrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnSorgqr_bufferSize, 8)
ELEMENTS_AT(cusolverDnSormqr_bufferSize, 12)
ELEMENTS_AT(cusolverDnSpotrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnSsyevd_bufferSize, 8)
ELEMENTS_AT(cusolverDnSsyevjBatched_bufferSize, 8)
ELEMENTS_AT(cusolverDnSsyevj_bufferSize, 8)
ELEMENTS_AT(cusolverDnSsytrf_bufferSize, 5)
ELEMENTS_AT(cusolverDnZgeqrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnZgesvd_bufferSize, 4)
ELEMENTS_AT(cusolverDnZgesvdaStridedBatched_bufferSize, 17)
ELEMENTS_AT(cusolverDnZgesvdjBatched_bufferSize, 12)
ELEMENTS_AT(cusolverDnZgesvdj_bufferSize, 13)
ELEMENTS_AT(cusolverDnZgetrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnZheevd_bufferSize, 8)
ELEMENTS_AT(cusolverDnZheevjBatched_bufferSize, 8)
ELEMENTS_AT(cusolverDnZheevj_bufferSize, 8)
ELEMENTS_AT(cusolverDnZpotrf_bufferSize, 6)
ELEMENTS_AT(cusolverDnZsytrf_bufferSize, 5)
ELEMENTS_AT(cusolverDnZungqr_bufferSize, 8)
ELEMENTS_AT(cusolverDnZunmqr_bufferSize, 12)
BYTES_AT(cusolverDnXgeev_bufferSize, 18, 19)
BYTES_AT(cusolverDnXgeqrf_bufferSize, 11, 12)
BYTES_AT(cusolverDnXpotrf_bufferSize, 9, 10)
BYTES_AT(cusolverDnXsyevBatched_bufferSize, 12, 13)
BYTES_AT(cusolverDnXsyevd_bufferSize, 12, 13)
BYTES_AT(cusolverDnXsytrs_bufferSize, 12, 13)

TMV_KERNEL(cusolverDnCgeqrf)
TMV_KERNEL(cusolverDnCgesvd)
TMV_KERNEL(cusolverDnCgesvdaStridedBatched)
TMV_KERNEL(cusolverDnCgesvdj)
TMV_KERNEL(cusolverDnCgesvdjBatched)
TMV_KERNEL(cusolverDnCgetrf)
TMV_KERNEL(cusolverDnCgetrs)
TMV_KERNEL(cusolverDnCheevd)
TMV_KERNEL(cusolverDnCheevj)
TMV_KERNEL(cusolverDnCheevjBatched)
TMV_KERNEL(cusolverDnCpotrf)
TMV_KERNEL(cusolverDnCpotrfBatched)
TMV_KERNEL(cusolverDnCpotrs)
TMV_KERNEL(cusolverDnCpotrsBatched)
TMV_KERNEL(cusolverDnCsytrf)
TMV_KERNEL(cusolverDnCungqr)
TMV_KERNEL(cusolverDnCunmqr)
TMV_KERNEL(cusolverDnDestroy)
TMV_KERNEL(cusolverDnDestroyGesvdjInfo)
TMV_KERNEL(cusolverDnDestroyParams)
TMV_KERNEL(cusolverDnDestroySyevjInfo)
TMV_KERNEL(cusolverDnDgeqrf)
TMV_KERNEL(cusolverDnDgesvd)
TMV_KERNEL(cusolverDnDgesvdaStridedBatched)
TMV_KERNEL(cusolverDnDgesvdj)
TMV_KERNEL(cusolverDnDgesvdjBatched)
TMV_KERNEL(cusolverDnDgetrf)
TMV_KERNEL(cusolverDnDgetrs)
TMV_KERNEL(cusolverDnDorgqr)
TMV_KERNEL(cusolverDnDormqr)
TMV_KERNEL(cusolverDnDpotrf)
TMV_KERNEL(cusolverDnDpotrfBatched)
TMV_KERNEL(cusolverDnDpotrs)
TMV_KERNEL(cusolverDnDpotrsBatched)
TMV_KERNEL(cusolverDnDsyevd)
TMV_KERNEL(cusolverDnDsyevj)
TMV_KERNEL(cusolverDnDsyevjBatched)
TMV_KERNEL(cusolverDnDsytrf)
TMV_KERNEL(cusolverDnSetStream)
TMV_KERNEL(cusolverDnSgeqrf)
TMV_KERNEL(cusolverDnSgesvd)
TMV_KERNEL(cusolverDnSgesvdaStridedBatched)
TMV_KERNEL(cusolverDnSgesvdj)
TMV_KERNEL(cusolverDnSgesvdjBatched)
TMV_KERNEL(cusolverDnSgetrf)
TMV_KERNEL(cusolverDnSgetrs)
TMV_KERNEL(cusolverDnSorgqr)
TMV_KERNEL(cusolverDnSormqr)
TMV_KERNEL(cusolverDnSpotrf)
TMV_KERNEL(cusolverDnSpotrfBatched)
TMV_KERNEL(cusolverDnSpotrs)
TMV_KERNEL(cusolverDnSpotrsBatched)
TMV_KERNEL(cusolverDnSsyevd)
TMV_KERNEL(cusolverDnSsyevj)
TMV_KERNEL(cusolverDnSsyevjBatched)
TMV_KERNEL(cusolverDnSsytrf)
TMV_KERNEL(cusolverDnXgeev)
TMV_KERNEL(cusolverDnXgeqrf)
TMV_KERNEL(cusolverDnXgesvdjSetMaxSweeps)
TMV_KERNEL(cusolverDnXgesvdjSetSortEig)
TMV_KERNEL(cusolverDnXgesvdjSetTolerance)
TMV_KERNEL(cusolverDnXpotrf)
TMV_KERNEL(cusolverDnXpotrs)
TMV_KERNEL(cusolverDnXsyevBatched)
TMV_KERNEL(cusolverDnXsyevd)
TMV_KERNEL(cusolverDnXsytrs)
TMV_KERNEL(cusolverDnZgeqrf)
TMV_KERNEL(cusolverDnZgesvd)
TMV_KERNEL(cusolverDnZgesvdaStridedBatched)
TMV_KERNEL(cusolverDnZgesvdj)
TMV_KERNEL(cusolverDnZgesvdjBatched)
TMV_KERNEL(cusolverDnZgetrf)
TMV_KERNEL(cusolverDnZgetrs)
TMV_KERNEL(cusolverDnZheevd)
TMV_KERNEL(cusolverDnZheevj)
TMV_KERNEL(cusolverDnZheevjBatched)
TMV_KERNEL(cusolverDnZpotrf)
TMV_KERNEL(cusolverDnZpotrfBatched)
TMV_KERNEL(cusolverDnZpotrs)
TMV_KERNEL(cusolverDnZpotrsBatched)
TMV_KERNEL(cusolverDnZsytrf)
TMV_KERNEL(cusolverDnZungqr)
TMV_KERNEL(cusolverDnZunmqr)
