// cuSPARSELt: the calls that PyTorch makes succeed; sizes that only the library knows are taken as 0 and
// listed.
#include <cstddef>
#include <cstring>

#include "answer.h"
#include "assumptions.h"
#include "core.h"
#include "export.h"

namespace {

void computed() { tmv_loaded(torchmem::vgpu::Load::kernel); }

int unknown_size(const char* operation, size_t* bytes) {
  *bytes = 0;
  tmv_count_workspace("cusparselt", operation, "", 0, 2);
  return 0;
}

}  // namespace

TMV_EXPORT int cusparseLtSpMMACompressedSize2(void*, void*, size_t* compressed, size_t* buffer) {
  *buffer = 0;
  return unknown_size("cusparseLtSpMMACompressedSize2", compressed);
}

TMV_EXPORT int cusparseLtMatmulGetWorkspace(void*, void*, size_t* bytes) {
  return unknown_size("cusparseLtMatmulGetWorkspace", bytes);
}

TMV_EXPORT int cusparseLtMatmulAlgGetAttribute(void*, void*, int, void* value, size_t bytes) {
  std::memset(value, 0, bytes);
  return 0;
}

TMV_ANSWER(cusparseLtInit)
TMV_ANSWER(cusparseLtDenseDescriptorInit)
TMV_ANSWER(cusparseLtStructuredDescriptorInit)
TMV_ANSWER(cusparseLtMatDescriptorDestroy)
TMV_ANSWER(cusparseLtMatmulAlgSelectionInit)
TMV_ANSWER(cusparseLtMatmulAlgSetAttribute)
TMV_ANSWER(cusparseLtMatmulDescriptorInit)
TMV_ANSWER(cusparseLtMatmulDescSetAttribute)
TMV_ANSWER(cusparseLtMatmulPlanInit)
TMV_ANSWER(cusparseLtMatmulPlanDestroy)
TMV_KERNEL(cusparseLtMatmul)
TMV_KERNEL(cusparseLtMatmulSearch)
TMV_KERNEL(cusparseLtSpMMACompress2)
