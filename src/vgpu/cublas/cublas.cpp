// cuBLAS: handles are real, products are not computed. Every handle is a new one, since PyTorch keys its
// workspaces on it.
#include "answer.h"
#include "core.h"
#include "export.h"

namespace {

constexpr int success = 0;          // CUBLAS_STATUS_SUCCESS
constexpr int not_initialized = 1;  // CUBLAS_STATUS_NOT_INITIALIZED

struct Handle {
  void* stream = nullptr;
  int math_mode = 0;     // CUBLAS_DEFAULT_MATH
  int pointer_mode = 0;  // CUBLAS_POINTER_MODE_HOST
};

}  // namespace

TMV_EXPORT int cublasCreate_v2(void** handle) {
  if (tmv_activate(tmv_current_device()) != torchmem::vgpu::success) return not_initialized;
  tmv_loaded(torchmem::vgpu::Load::cublas_handle);
  *handle = new Handle();
  return success;
}

TMV_EXPORT int cublasDestroy_v2(void* handle) {
  delete static_cast<Handle*>(handle);
  return success;
}

TMV_EXPORT int cublasSetStream_v2(Handle* handle, void* stream) {
  handle->stream = stream;
  return success;
}

TMV_EXPORT int cublasGetMathMode(Handle* handle, int* mode) {
  *mode = handle->math_mode;
  return success;
}

TMV_EXPORT int cublasSetMathMode(Handle* handle, int mode) {
  handle->math_mode = mode;
  return success;
}

TMV_EXPORT int cublasGetPointerMode_v2(Handle* handle, int* mode) {
  *mode = handle->pointer_mode;
  return success;
}

TMV_EXPORT int cublasSetPointerMode_v2(Handle* handle, int mode) {
  handle->pointer_mode = mode;
  return success;
}

// The workspace is the caller's; its size decides nothing here.
TMV_ANSWER(cublasSetWorkspace_v2)
