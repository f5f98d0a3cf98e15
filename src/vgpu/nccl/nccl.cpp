// NCCL's functions. Communicators are made without waiting for the other ranks, and nothing is done when it
// is called: what a rank gets of others is looked for when it is needed (receive.cpp). Small values travel
// between the processes of a run; large ones are not known, or taken to be this rank's own (alike.cpp).
#include <cstddef>
#include <cstdint>
#include <memory>

#include "answer.h"
#include "communicator.h"
#include "core.h"
#include "export.h"
#include "identity.h"
#include "operation.h"
#include "reductions.h"

using namespace torchmem::vgpu::nccl;

namespace {

constexpr int success = 0;
constexpr int unhandled_cuda_error = 1;  // ncclUnhandledCudaError
constexpr int host_scalar = 1;           // ncclScalarHostImmediate

int make(Communicator** made, int ranks, const UniqueId* ids, size_t count, int rank) {
  *made = new Communicator(identity_of(ids, count), ranks, rank);
  return success;
}

int leave(Communicator* communicator) {
  delete communicator;
  return success;
}

}  // namespace

TMV_EXPORT int ncclGetVersion(int* version) {
  *version = tmv_version("nccl");
  return success;
}

TMV_EXPORT int ncclGetUniqueId(UniqueId* id) {
  *id = make_unique_id();
  return success;
}

TMV_EXPORT const char* ncclGetErrorString(int status) {
  return status == success ? "no error" : "unhandled cuda error";
}

TMV_EXPORT const char* ncclGetLastError(Communicator*) { return ""; }

TMV_EXPORT int ncclCommInitRank(Communicator** made, int ranks, UniqueId id, int rank) {
  return make(made, ranks, &id, 1, rank);
}

TMV_EXPORT int ncclCommInitRankConfig(Communicator** made, int ranks, UniqueId id, int rank, void*) {
  return make(made, ranks, &id, 1, rank);
}

TMV_EXPORT int ncclCommInitRankScalable(Communicator** made, int ranks, int rank, int count, UniqueId* ids,
                                        void*) {
  return make(made, ranks, ids, static_cast<size_t>(count), rank);
}

TMV_EXPORT int ncclCommInitAll(Communicator** made, int ranks, const int*) {
  const UniqueId id = make_unique_id();
  for (int rank = 0; rank < ranks; ++rank) make(made + rank, ranks, &id, 1, rank);
  return success;
}

TMV_EXPORT int ncclCommSplit(Communicator* from, int colour, int key, Communicator** made, void*) {
  *made = from->split(colour, key).release();
  return success;
}

TMV_EXPORT int ncclCommShrink(Communicator* from, int* excluded, int count, Communicator** made, void*, int) {
  *made = from->without(std::vector<int>(excluded, excluded + count)).release();
  return success;
}

TMV_EXPORT int ncclCommDestroy(Communicator* communicator) { return leave(communicator); }

TMV_EXPORT int ncclCommAbort(Communicator* communicator) { return leave(communicator); }

TMV_EXPORT int ncclCommCount(Communicator* communicator, int* count) {
  *count = communicator->ranks();
  return success;
}

TMV_EXPORT int ncclCommUserRank(Communicator* communicator, int* rank) {
  *rank = communicator->rank();
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

TMV_EXPORT int ncclGroupStart() { return group_start(); }

TMV_EXPORT int ncclGroupEnd() { return group_end(); }

TMV_EXPORT int ncclAllReduce(const void* from, void* to, size_t count, int type, int kind,
                             Communicator* communicator, void* stream) {
  return submit({Call::all_reduce, communicator, from, to, count, type, kind, scalar_of(kind), 0, stream});
}

TMV_EXPORT int ncclBroadcast(const void* from, void* to, size_t count, int type, int root,
                             Communicator* communicator, void* stream) {
  return submit({Call::broadcast, communicator, from, to, count, type, 0, {}, root, stream});
}

TMV_EXPORT int ncclBcast(void* buffer, size_t count, int type, int root, Communicator* communicator,
                         void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}

TMV_EXPORT int ncclReduce(const void* from, void* to, size_t count, int type, int kind, int root,
                          Communicator* communicator, void* stream) {
  return submit({Call::reduce, communicator, from, to, count, type, kind, scalar_of(kind), root, stream});
}

TMV_EXPORT int ncclReduceScatter(const void* from, void* to, size_t count, int type, int kind,
                                 Communicator* communicator, void* stream) {
  return submit(
      {Call::reduce_scatter, communicator, from, to, count, type, kind, scalar_of(kind), 0, stream});
}

TMV_EXPORT int ncclAllGather(const void* from, void* to, size_t count, int type, Communicator* communicator,
                             void* stream) {
  return submit({Call::all_gather, communicator, from, to, count, type, 0, {}, 0, stream});
}

TMV_EXPORT int ncclAlltoAll(const void* from, void* to, size_t count, int type, Communicator* communicator,
                            void* stream) {
  return submit({Call::all_to_all, communicator, from, to, count, type, 0, {}, 0, stream});
}

TMV_EXPORT int ncclGather(const void* from, void* to, size_t count, int type, int root,
                          Communicator* communicator, void* stream) {
  return submit({Call::gather, communicator, from, to, count, type, 0, {}, root, stream});
}

TMV_EXPORT int ncclScatter(const void* from, void* to, size_t count, int type, int root,
                           Communicator* communicator, void* stream) {
  return submit({Call::scatter, communicator, from, to, count, type, 0, {}, root, stream});
}

TMV_EXPORT int ncclSend(const void* from, size_t count, int type, int peer, Communicator* communicator,
                        void* stream) {
  return submit({Call::send, communicator, from, nullptr, count, type, 0, {}, peer, stream});
}

TMV_EXPORT int ncclRecv(void* to, size_t count, int type, int peer, Communicator* communicator,
                        void* stream) {
  return submit({Call::receive, communicator, nullptr, to, count, type, 0, {}, peer, stream});
}

TMV_EXPORT int ncclRedOpCreatePreMulSum(int* kind, void* scalar, int type, int residence, Communicator*) {
  *kind = make_reduction(scalar, type, residence == host_scalar);
  return success;
}

TMV_EXPORT int ncclRedOpDestroy(int kind, Communicator*) {
  forget_reduction(kind);
  return success;
}

TMV_ANSWER(ncclCommFinalize)
TMV_ANSWER(ncclCommRegister)
TMV_ANSWER(ncclCommDeregister)
