// NCCL: communicators are made without the others, and a collective is done at once, from what this process
// knows. The other ranks are taken to hold what this one holds: that is so for what programs compare between
// them (shapes, sizes, flags), and each gathering that rests on it is counted as an assumed value. What a
// reduction computes is not known.
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

constexpr size_t largest_kept = size_t{64} << 10;  // larger values are known of no rank (contents.h)

// ncclDataType_t, in order: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16,
// float8 (two).
constexpr size_t type_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

// ncclRedOp_t: what these make of equal values is the value.
bool keeps_equal_values(int operation) { return operation >= 2 && operation <= 4; }  // max, min, avg

size_t bytes_of(size_t count, int type) {
  bool known = type >= 0 && static_cast<size_t>(type) < sizeof type_bytes / sizeof *type_bytes;
  return count * (known ? type_bytes[type] : 8);
}

int received(void* to, size_t count, int type) {
  tmv_written(reinterpret_cast<uint64_t>(to), bytes_of(count, type));
  return success;
}

int reduced(const void* from, void* to, size_t count, int type, int operation) {
  if (!keeps_equal_values(operation)) return received(to, count, type);
  if (from != to) tmv_copy(to, from, bytes_of(count, type));
  return success;
}

// `ranks` pieces of `bytes`, each this rank's own.
int gathered(const void* from, void* to, size_t bytes, int ranks) {
  auto* piece = static_cast<char*>(to);
  for (int rank = 0; rank < ranks; ++rank, piece += bytes)
    if (piece != from) tmv_copy(piece, from, bytes);
  if (ranks > 1 && bytes <= largest_kept) tmv_count_value(reinterpret_cast<uint64_t>(to), bytes);
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

TMV_EXPORT int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation) {
  return reduced(from, to, count, type, operation);
}

// Where this rank is not the root its own buffer is taken to hold the same already.
TMV_EXPORT int ncclBroadcast(const void* from, void* to, size_t count, int type, int root,
                             Communicator* communicator) {
  if (communicator->rank == root && from != to) tmv_copy(to, from, bytes_of(count, type));
  return success;
}

TMV_EXPORT int ncclReduce(const void* from, void* to, size_t count, int type, int operation, int root,
                          Communicator* communicator) {
  return communicator->rank == root ? reduced(from, to, count, type, operation) : success;
}

TMV_EXPORT int ncclRecv(void* to, size_t count, int type) { return received(to, count, type); }

TMV_EXPORT int ncclReduceScatter(const void*, void* to, size_t count, int type) {
  return received(to, count, type);
}

TMV_EXPORT int ncclAllGather(const void* from, void* to, size_t count, int type, Communicator* communicator) {
  return gathered(from, to, bytes_of(count, type), communicator->ranks);
}

TMV_EXPORT int ncclAlltoAll(const void*, void* to, size_t count, int type, Communicator* communicator) {
  return received(to, count * static_cast<size_t>(communicator->ranks), type);
}

TMV_EXPORT int ncclRedOpCreatePreMulSum(int* operation) {
  *operation = 5;  // the first number after the built-in ones
  return success;
}

TMV_ANSWER(ncclSend)
TMV_ANSWER(ncclBcast)
TMV_ANSWER(ncclGroupStart)
TMV_ANSWER(ncclGroupEnd)
TMV_ANSWER(ncclCommFinalize)
TMV_ANSWER(ncclCommRegister)
TMV_ANSWER(ncclCommDeregister)
TMV_ANSWER(ncclRedOpDestroy)
