// cuBLASLt: descriptors are opaque to PyTorch; the heuristic finds one algorithm that needs no workspace
// beyond the one offered.
#include <cstddef>
#include <cstring>

#include "answer.h"
#include "core.h"
#include "export.h"

namespace {

constexpr int success = 0;

// cublasLtMatmulHeuristicResult_t, as documented: the algorithm's 64 opaque bytes, the workspace it needs,
// its status, waves and reserved fields.
struct HeuristicResult {
  unsigned char algorithm[64];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

struct Descriptor {};

int make(Descriptor** made) {
  *made = new Descriptor();
  return success;
}

int drop(Descriptor* descriptor) {
  delete descriptor;
  return success;
}

}  // namespace

TMV_EXPORT int cublasLtMatmulDescCreate(Descriptor** made, int, int) { return make(made); }

TMV_EXPORT int cublasLtMatmulDescDestroy(Descriptor* descriptor) { return drop(descriptor); }

TMV_EXPORT int cublasLtMatmulPreferenceCreate(Descriptor** made) { return make(made); }

TMV_EXPORT int cublasLtMatmulPreferenceDestroy(Descriptor* descriptor) { return drop(descriptor); }

TMV_EXPORT int cublasLtMatrixLayoutCreate(Descriptor** made, int, unsigned long long, unsigned long long,
                                          long long) {
  return make(made);
}

TMV_EXPORT int cublasLtMatrixLayoutDestroy(Descriptor* descriptor) { return drop(descriptor); }

TMV_ANSWER(cublasLtMatmulDescSetAttribute)
TMV_ANSWER(cublasLtMatmulPreferenceSetAttribute)
TMV_ANSWER(cublasLtMatrixLayoutSetAttribute)

TMV_EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int wanted,
                                              HeuristicResult* results, int* found) {
  *found = wanted > 0 ? 1 : 0;
  if (*found) std::memset(results, 0, sizeof *results);
  return success;
}

TMV_EXPORT int cublasLtMatmul() {
  tmv_loaded(torchmem::vgpu::Load::kernel);
  tmv_loaded(torchmem::vgpu::Load::cublas_kernel);
  return success;
}

TMV_EXPORT size_t cublasLtGetVersion() { return static_cast<size_t>(tmv_version("cublaslt")); }
