// NVRTC: a program compiles to nothing.
#include <cstddef>

#include "answer.h"
#include "core.h"
#include "export.h"

namespace {

int one_byte(size_t* bytes) {
  *bytes = 1;
  return 0;
}

int empty(char* text) {
  *text = '\0';
  return 0;
}

}  // namespace

TMV_EXPORT int nvrtcVersion(int* major, int* minor) {
  int version = tmv_version("nvrtc");
  *major = version / 1000;
  *minor = version % 1000 / 10;
  return 0;
}

TMV_EXPORT int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                                  const char* const*) {
  static char object;
  *program = &object;
  return 0;
}

TMV_EXPORT int nvrtcDestroyProgram(void** program) {
  *program = nullptr;
  return 0;
}

TMV_EXPORT int nvrtcGetPTXSize(void*, size_t* bytes) { return one_byte(bytes); }
TMV_EXPORT int nvrtcGetCUBINSize(void*, size_t* bytes) { return one_byte(bytes); }
TMV_EXPORT int nvrtcGetProgramLogSize(void*, size_t* bytes) { return one_byte(bytes); }
TMV_EXPORT int nvrtcGetPTX(void*, char* text) { return empty(text); }
TMV_EXPORT int nvrtcGetCUBIN(void*, char* text) { return empty(text); }
TMV_EXPORT int nvrtcGetProgramLog(void*, char* text) { return empty(text); }

TMV_EXPORT int nvrtcGetLoweredName(void*, const char* name, const char** lowered) {
  *lowered = name;
  return 0;
}

TMV_EXPORT const char* nvrtcGetErrorString(int status) {
  return status == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR";
}

TMV_ANSWER(nvrtcAddNameExpression)
TMV_ANSWER(nvrtcCompileProgram)
