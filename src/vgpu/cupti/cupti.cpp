// CUPTI, for PyTorch's profiler: it can be switched on and has nothing to tell.
#include <cstddef>
#include <cstdint>

#include "answer.h"
#include "export.h"

namespace {

constexpr int api_version = 130000;    // CUPTI_API_VERSION of CUDA 13.0
constexpr int max_limit_reached = 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED: no more records

}  // namespace

TMV_EXPORT int cuptiGetVersion(uint32_t* version) {
  *version = api_version;
  return 0;
}

TMV_EXPORT int cuptiSubscribe(void** subscriber, void*, void*) {
  static char object;
  *subscriber = &object;
  return 0;
}

TMV_EXPORT int cuptiActivityGetNextRecord() { return max_limit_reached; }

TMV_EXPORT int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  *dropped = 0;
  return 0;
}

TMV_EXPORT int cuptiActivityPopExternalCorrelationId(int, uint64_t* id) {
  if (id) *id = 0;
  return 0;
}

TMV_EXPORT int cuptiGetResultString(int result, const char** text) {
  *text = result == 0 ? "CUPTI_SUCCESS" : "CUPTI_ERROR";
  return 0;
}

TMV_ANSWER(cuptiActivityDisable)
TMV_ANSWER(cuptiActivityEnable)
TMV_ANSWER(cuptiActivityEnableCudaEventDeviceTimestamps)
TMV_ANSWER(cuptiActivityEnableDriverApi)
TMV_ANSWER(cuptiActivityEnableRuntimeApi)
TMV_ANSWER(cuptiActivityFlushAll)
TMV_ANSWER(cuptiActivityPushExternalCorrelationId)
TMV_ANSWER(cuptiActivityRegisterCallbacks)
TMV_ANSWER(cuptiActivityRegisterTimestampCallback)
TMV_ANSWER(cuptiActivitySetAttribute)
TMV_ANSWER(cuptiEnableCallback)
TMV_ANSWER(cuptiEnableDomain)
TMV_ANSWER(cuptiFinalize)
TMV_ANSWER(cuptiUnsubscribe)
