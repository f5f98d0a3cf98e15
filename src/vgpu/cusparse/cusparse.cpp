// cuSPARSE: every call that PyTorch makes succeeds. A workspace's size, and the number of entries of a
// computed matrix, are not known: they are taken as 0 and listed.
#include <cstddef>
#include <cstdint>

#include "answer.h"
#include "assumptions.h"
#include "core.h"
#include "export.h"

namespace {

void computed() { tmv_loaded(torchmem::vgpu::Load::kernel); }

int made(void** handle) {
  static char object;
  *handle = &object;
  return 0;
}

}  // namespace

TMV_EXPORT int cusparseCreate(void** handle) { return made(handle); }
TMV_EXPORT int cusparseCreateBsrsm2Info(void** handle) { return made(handle); }
TMV_EXPORT int cusparseCreateBsrsv2Info(void** handle) { return made(handle); }
TMV_EXPORT int cusparseCreateCoo(void** handle) { return made(handle); }
TMV_EXPORT int cusparseCreateCsr(void** handle) { return made(handle); }
TMV_EXPORT int cusparseCreateDnMat(void** handle) { return made(handle); }
TMV_EXPORT int cusparseCreateDnVec(void** handle) { return made(handle); }
TMV_EXPORT int cusparseCreateMatDescr(void** handle) { return made(handle); }
TMV_EXPORT int cusparseSpGEMM_createDescr(void** handle) { return made(handle); }
TMV_EXPORT int cusparseSpSM_createDescr(void** handle) { return made(handle); }
TMV_EXPORT int cusparseSpSV_createDescr(void** handle) { return made(handle); }

TMV_EXPORT const char* cusparseGetErrorString(int status) { return status == 0 ? "success" : "failure"; }

TMV_EXPORT int cusparseSpMatGetSize(void*, int64_t* rows, int64_t* columns, int64_t* entries) {
  *rows = *columns = *entries = 0;
  tmv_count_value(0, 3 * sizeof(int64_t));
  return 0;
}

// Functions that tell a size, which of their arguments points to it, and what is said. Arguments are integers
// and pointers only, so that each takes one register or stack slot of 8 bytes.
#define ARGUMENTS                                                                                      \
  long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10, long a11, \
      long a12, long a13, long a14, long a15, long a16, long a17, long a18, long a19, long a20
#define UNUSED                                                                                           \
  (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8, (void)a9, (void)a10,   \
      (void)a11, (void)a12, (void)a13, (void)a14, (void)a15, (void)a16, (void)a17, (void)a18, (void)a19, \
      (void)a20
#define SIZE_AT(name, position, type, value)          \
  TMV_EXPORT int name(ARGUMENTS) {                    \
    UNUSED;                                           \
    *reinterpret_cast<type*>(a##position) = value;    \
    tmv_count_workspace("cusparse", #name, "", 0, 2); \
    return 0;                                         \
  }

SIZE_AT(cusparseCbsrsm2_bufferSize, 14, int, 0)
SIZE_AT(cusparseCbsrsv2_bufferSize, 12, int, 0)
SIZE_AT(cusparseCcsrgeam2_bufferSizeExt, 20, size_t, 0)
SIZE_AT(cusparseDbsrsm2_bufferSize, 14, int, 0)
SIZE_AT(cusparseDbsrsv2_bufferSize, 12, int, 0)
SIZE_AT(cusparseDcsrgeam2_bufferSizeExt, 20, size_t, 0)
SIZE_AT(cusparseSDDMM_bufferSize, 11, size_t, 0)
SIZE_AT(cusparseSbsrsm2_bufferSize, 14, int, 0)
SIZE_AT(cusparseSbsrsv2_bufferSize, 12, int, 0)
SIZE_AT(cusparseScsrgeam2_bufferSizeExt, 20, size_t, 0)
SIZE_AT(cusparseSpGEMM_compute, 12, size_t, 0)
SIZE_AT(cusparseSpGEMM_workEstimation, 12, size_t, 0)
SIZE_AT(cusparseSpMM_bufferSize, 11, size_t, 0)
SIZE_AT(cusparseSpMV_bufferSize, 10, size_t, 0)
SIZE_AT(cusparseSpSM_bufferSize, 11, size_t, 0)
SIZE_AT(cusparseSpSV_bufferSize, 10, size_t, 0)
SIZE_AT(cusparseXbsrsm2_zeroPivot, 3, int, -1)
SIZE_AT(cusparseXbsrsv2_zeroPivot, 3, int, -1)
SIZE_AT(cusparseXcoosort_bufferSizeExt, 7, size_t, 0)
SIZE_AT(cusparseXcsrgeam2Nnz, 14, int, 0)
SIZE_AT(cusparseXcsrsort_bufferSizeExt, 7, size_t, 0)
SIZE_AT(cusparseZbsrsm2_bufferSize, 14, int, 0)
SIZE_AT(cusparseZbsrsv2_bufferSize, 12, int, 0)
SIZE_AT(cusparseZcsrgeam2_bufferSizeExt, 20, size_t, 0)

TMV_KERNEL(cusparseCbsrmm)
TMV_KERNEL(cusparseCbsrmv)
TMV_KERNEL(cusparseCbsrsm2_analysis)
TMV_KERNEL(cusparseCbsrsm2_solve)
TMV_KERNEL(cusparseCbsrsv2_analysis)
TMV_KERNEL(cusparseCbsrsv2_solve)
TMV_KERNEL(cusparseCcsrgeam2)
TMV_KERNEL(cusparseCreateIdentityPermutation)
TMV_KERNEL(cusparseCsrSetPointers)
TMV_KERNEL(cusparseCsrSetStridedBatch)
TMV_KERNEL(cusparseDbsrmm)
TMV_KERNEL(cusparseDbsrmv)
TMV_KERNEL(cusparseDbsrsm2_analysis)
TMV_KERNEL(cusparseDbsrsm2_solve)
TMV_KERNEL(cusparseDbsrsv2_analysis)
TMV_KERNEL(cusparseDbsrsv2_solve)
TMV_KERNEL(cusparseDcsrgeam2)
TMV_KERNEL(cusparseDestroy)
TMV_KERNEL(cusparseDestroyBsrsm2Info)
TMV_KERNEL(cusparseDestroyBsrsv2Info)
TMV_KERNEL(cusparseDestroyDnMat)
TMV_KERNEL(cusparseDestroyDnVec)
TMV_KERNEL(cusparseDestroyMatDescr)
TMV_KERNEL(cusparseDestroySpMat)
TMV_KERNEL(cusparseDnMatSetStridedBatch)
TMV_KERNEL(cusparseSDDMM)
TMV_KERNEL(cusparseSDDMM_preprocess)
TMV_KERNEL(cusparseSbsrmm)
TMV_KERNEL(cusparseSbsrmv)
TMV_KERNEL(cusparseSbsrsm2_analysis)
TMV_KERNEL(cusparseSbsrsm2_solve)
TMV_KERNEL(cusparseSbsrsv2_analysis)
TMV_KERNEL(cusparseSbsrsv2_solve)
TMV_KERNEL(cusparseScsrgeam2)
TMV_KERNEL(cusparseSetMatDiagType)
TMV_KERNEL(cusparseSetMatFillMode)
TMV_KERNEL(cusparseSetMatIndexBase)
TMV_KERNEL(cusparseSetMatType)
TMV_KERNEL(cusparseSetPointerMode)
TMV_KERNEL(cusparseSetStream)
TMV_KERNEL(cusparseSpGEMM_copy)
TMV_KERNEL(cusparseSpGEMM_destroyDescr)
TMV_KERNEL(cusparseSpMM)
TMV_KERNEL(cusparseSpMV)
TMV_KERNEL(cusparseSpMatSetAttribute)
TMV_KERNEL(cusparseSpSM_analysis)
TMV_KERNEL(cusparseSpSM_destroyDescr)
TMV_KERNEL(cusparseSpSM_solve)
TMV_KERNEL(cusparseSpSV_analysis)
TMV_KERNEL(cusparseSpSV_destroyDescr)
TMV_KERNEL(cusparseSpSV_solve)
TMV_KERNEL(cusparseXcoo2csr)
TMV_KERNEL(cusparseXcoosortByRow)
TMV_KERNEL(cusparseXcsrsort)
TMV_KERNEL(cusparseZbsrmm)
TMV_KERNEL(cusparseZbsrmv)
TMV_KERNEL(cusparseZbsrsm2_analysis)
TMV_KERNEL(cusparseZbsrsm2_solve)
TMV_KERNEL(cusparseZbsrsv2_analysis)
TMV_KERNEL(cusparseZbsrsv2_solve)
TMV_KERNEL(cusparseZcsrgeam2)
