#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "communicator.h"

namespace torchmem::vgpu::nccl {

enum class Call : uint32_t {
  all_reduce = 1,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  send,
  receive,
};

// What a program's own reduction (ncclRedOpCreatePreMulSum) multiplies by.
struct Scalar {
  unsigned char bytes[8] = {};
  int state = 0;  // tmv_value_...
};

// A call as it was made.
struct Operation {
  Call call = Call::all_reduce;
  Communicator* communicator = nullptr;
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;  // as the call's documentation has it: of a piece, where ranks give or get pieces
  int type = 0;
  int kind = 0;                  // of the reduction
  std::optional<Scalar> scalar;  // of the program's own
  int peer = 0;                  // the root, or the other side
  void* stream = nullptr;
};

// Does it, or notes it for the end of the group that this thread is in.
int submit(const Operation& operation);
int group_start();
int group_end();

// An operation of which this rank's part is posted.
struct Posted {
  const Operation* operation = nullptr;
  std::shared_ptr<Travel> travel;  // null: it is done as if all ranks were alike
  uint64_t sequence = 0;
  bool own_known = false;  // of what this rank takes part with itself, any
};

// First half: gives the others what they need of this rank.
Posted post(const Operation& operation);
// Second half, for all operations of a group after the first half of each: what this rank gets is there, or
// waited for from now on.
void receive(const Posted& posted);

// What the call is to the ranks: both sides of a message have the same. Bytes of the message from one rank to
// one other.
uint32_t what(const Operation& operation);
const char* name(Call call);

// The operation when nothing travels: the other ranks are taken to hold what this one holds. That is so for
// what programs compare between them (shapes, sizes, flags), and each gathering that rests on it is counted
// as an assumed value.
void do_alike(const Operation& operation);

}  // namespace torchmem::vgpu::nccl
