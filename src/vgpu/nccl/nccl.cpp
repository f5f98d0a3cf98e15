// NCCL: communicators are made without the others, and a collective is done at once. What it would have
// written is not known.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "answer.h"
#include "core.h"
#include "export.h"
#include "fidelity.h"

namespace {

constexpr int success = 0;
constexpr int unhandled_cuda_error = 1;  // ncclUnhandledCudaError

struct UniqueId {
  char bytes[128];
};

struct Communicator {
  int ranks = 1;
  int rank = 0;
};

int make(Communicator** made, int ranks, int rank) {
  *made = new Communicator{ranks, rank};
  return success;
}

// ncclDataType_t, in order: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16,
// float8 (two).
constexpr size_t type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

int received(void* to, size_t count, int type) {
  size_t bytes =
      type >= 0 && static_cast<size_t>(type) < sizeof type_bytes / sizeof *type_bytes ? type_bytes[type] : 8;
  tmv_written(reinterpret_cast<uint64_t>(to), count * bytes);
  return success;
}

}  // namespace

TMV_EXPORT int ncclGetVersion(int* version) {
  *version = tmv_version("nccl");
  return success;
}

TMV_EXPORT int ncclGetUniqueId(UniqueId* id) {
  std::memset(id, 0, sizeof *id);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::snprintf(id->bytes, sizeof id->bytes, "virtual-%ld-%ld-%ld", static_cast<long>(getpid()),
                static_cast<long>(now.tv_sec), now.tv_nsec);
  return success;
}

TMV_EXPORT const char* ncclGetErrorString(int status) {
  return status == success ? "no error" : "unhandled cuda error";
}

TMV_EXPORT const char* ncclGetLastError(Communicator*) { return ""; }

TMV_EXPORT int ncclCommInitRank(Communicator** made, int ranks, UniqueId, int rank) {
  return make(made, ranks, rank);
}

TMV_EXPORT int ncclCommInitRankConfig(Communicator** made, int ranks, UniqueId, int rank, void*) {
  return make(made, ranks, rank);
}

TMV_EXPORT int ncclCommInitRankScalable(Communicator** made, int ranks, int rank, int, UniqueId*, void*) {
  return make(made, ranks, rank);
}

TMV_EXPORT int ncclCommInitAll(Communicator** made, int ranks, const int*) {
  for (int rank = 0; rank < ranks; ++rank) make(made + rank, ranks, rank);
  return success;
}

TMV_EXPORT int ncclCommSplit(Communicator* from, int, int, Communicator** made, void*) {
  return make(made, from->ranks, from->rank);
}

TMV_EXPORT int ncclCommDestroy(Communicator* communicator) {
  delete communicator;
  return success;
}

TMV_EXPORT int ncclCommAbort(Communicator* communicator) {
  delete communicator;
  return success;
}

TMV_EXPORT int ncclCommCount(Communicator* communicator, int* count) {
  *count = communicator->ranks;
  return success;
}

TMV_EXPORT int ncclCommUserRank(Communicator* communicator, int* rank) {
  *rank = communicator->rank;
  return success;
}

TMV_EXPORT int ncclCommGetAsyncError(Communicator*, int* status) {
  *status = success;
  return success;
}

TMV_EXPORT int ncclMemAlloc(void** pointer, size_t bytes) {
  uint64_t address = 0;
  int status = tmv_malloc(tmv_current_device(), bytes, &address);
  *pointer = reinterpret_cast<void*>(address);
  return status ? unhandled_cuda_error : success;
}

TMV_EXPORT int ncclMemFree(void* pointer) {
  return tmv_free(reinterpret_cast<uint64_t>(pointer)) ? unhandled_cuda_error : success;
}

TMV_EXPORT int ncclAllReduce(const void*, void* to, size_t count, int type) {
  return received(to, count, type);
}

TMV_EXPORT int ncclBroadcast(const void*, void* to, size_t count, int type) {
  return received(to, count, type);
}

TMV_EXPORT int ncclBcast(void* to, size_t count, int type) { return received(to, count, type); }

TMV_EXPORT int ncclReduce(const void*, void* to, size_t count, int type) { return received(to, count, type); }

TMV_EXPORT int ncclRecv(void* to, size_t count, int type) { return received(to, count, type); }

TMV_EXPORT int ncclReduceScatter(const void*, void* to, size_t count, int type) {
  return received(to, count, type);
}

TMV_EXPORT int ncclAllGather(const void*, void* to, size_t count, int type, Communicator* communicator) {
  return received(to, count * static_cast<size_t>(communicator->ranks), type);
}

TMV_EXPORT int ncclAlltoAll(const void*, void* to, size_t count, int type, Communicator* communicator) {
  return received(to, count * static_cast<size_t>(communicator->ranks), type);
}

TMV_EXPORT int ncclRedOpCreatePreMulSum(int* operation) {
  *operation = 5;  // the first number after the built-in ones
  return success;
}

TMV_ANSWER(ncclSend)
TMV_ANSWER(ncclGroupStart)
TMV_ANSWER(ncclGroupEnd)
TMV_ANSWER(ncclCommFinalize)
TMV_ANSWER(ncclCommRegister)
TMV_ANSWER(ncclCommDeregister)
TMV_ANSWER(ncclRedOpDestroy)
