#pragma once

#include <cstddef>

#include "../../../src/vgpu/nccl/communicator.h"
#include "../../../src/vgpu/nccl/identity.h"

// NCCL's functions, as a program sees them.
extern "C" {
using torchmem::vgpu::nccl::Communicator;
using torchmem::vgpu::nccl::UniqueId;
int ncclGetUniqueId(UniqueId* id);
int ncclCommInitRank(Communicator** made, int ranks, UniqueId id, int rank);
int ncclCommInitRankScalable(Communicator** made, int ranks, int rank, int count, UniqueId* ids,
                             void* config);
int ncclCommInitAll(Communicator** made, int ranks, const int* devices);
int ncclCommSplit(Communicator* from, int colour, int key, Communicator** made, void* config);
int ncclCommShrink(Communicator* from, int* excluded, int count, Communicator** made, void* config,
                   int flags);
int ncclCommDestroy(Communicator* communicator);
int ncclCommCount(Communicator* communicator, int* count);
int ncclCommUserRank(Communicator* communicator, int* rank);
int ncclGroupStart();
int ncclGroupEnd();
int ncclAllReduce(const void* from, void* to, size_t count, int type, int kind, Communicator* c,
                  void* stream);
int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, Communicator* c,
                  void* stream);
int ncclBcast(void* buffer, size_t count, int type, int root, Communicator* c, void* stream);
int ncclReduce(const void* from, void* to, size_t count, int type, int kind, int root, Communicator* c,
               void* stream);
int ncclReduceScatter(const void* from, void* to, size_t count, int type, int kind, Communicator* c,
                      void* stream);
int ncclAllGather(const void* from, void* to, size_t count, int type, Communicator* c, void* stream);
int ncclAlltoAll(const void* from, void* to, size_t count, int type, Communicator* c, void* stream);
int ncclGather(const void* from, void* to, size_t count, int type, int root, Communicator* c, void* stream);
int ncclScatter(const void* from, void* to, size_t count, int type, int root, Communicator* c, void* stream);
int ncclSend(const void* from, size_t count, int type, int peer, Communicator* c, void* stream);
int ncclRecv(void* to, size_t count, int type, int peer, Communicator* c, void* stream);
int ncclRedOpCreatePreMulSum(int* kind, void* scalar, int type, int residence, Communicator* c);
int ncclRedOpDestroy(int kind, Communicator* c);
}
