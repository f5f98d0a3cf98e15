// The first half of an operation: what this rank gives. Whether something travels is decided by what all
// ranks know alike (count, type, number of ranks), so that all count the same messages.
#include <algorithm>
#include <cstring>

#include "core.h"
#include "numbers.h"
#include "operation.h"
#include "values.h"

namespace torchmem::vgpu::nccl {
namespace {

bool capturing(void* stream) {
  CaptureInfo info;
  return tmv_capture_info(stream, &info) == success && info.status != 0;
}

// Bytes of all that a rank gives or gets at once.
size_t largest_buffer(const Operation& operation, int ranks) {
  const size_t bytes = operation.count * element_bytes(operation.type);
  switch (operation.call) {
    case Call::all_gather:
    case Call::reduce_scatter:
    case Call::all_to_all:
    case Call::gather:
    case Call::scatter:
      return bytes * static_cast<size_t>(ranks);
    default:
      return bytes;
  }
}

struct Sender {
  Travel& travel;
  const Operation& operation;
  Record record;
  size_t bytes;
  bool own_known = false;  // any of what is for everybody or for this rank itself

  // One message: `record.bytes` at `from`.
  void give(int to, const void* from) {
    const auto address = reinterpret_cast<uint64_t>(from);
    std::vector<unsigned char> payload(bytes), states(bytes);
    int worst = tmv_value_peek(address, bytes, payload.data());
    if (worst == tmv_value_known)
      std::memset(states.data(), tmv_value_known, bytes);
    else
      tmv_value_states(address, bytes, states.data());
    if (operation.scalar) multiply(*operation.scalar, payload.data(), states.data());
    if (to == everybody || to == travel.rank())
      own_known |= std::any_of(states.begin(), states.end(), [](int state) { return state != 0; });
    record.to = to;
    travel.post(record, payload.data(), states.data());
  }
  void multiply(const Scalar& scalar, void* payload, unsigned char* states) const {
    bool is_computed = scale(payload, operation.count, operation.type, scalar.bytes);
    for (size_t i = 0; i < bytes; ++i)
      states[i] = is_computed ? std::min(states[i], static_cast<unsigned char>(scalar.state)) : 0;
  }
  // A piece for each rank.
  void give_pieces() {
    auto* piece = static_cast<const char*>(operation.from);
    for (int rank = 0; rank < travel.ranks(); ++rank, piece += bytes) give(rank, piece);
  }
};

void give(Sender& sender) {
  const Operation& operation = sender.operation;
  const bool is_root = operation.peer == sender.travel.rank();
  switch (operation.call) {
    case Call::all_reduce:
    case Call::all_gather:
      return sender.give(everybody, operation.from);
    case Call::reduce:
    case Call::gather:
      return sender.give(operation.peer, operation.from);
    case Call::broadcast:
      return is_root ? sender.give(everybody, operation.from) : void();
    case Call::reduce_scatter:
    case Call::all_to_all:
      return sender.give_pieces();
    case Call::scatter:
      return is_root ? sender.give_pieces() : void();
    case Call::send:
      return sender.give(operation.peer, operation.from);
    case Call::receive:
      return;
  }
}

}  // namespace

const char* name(Call call) {
  switch (call) {
    case Call::all_reduce:
      return "ncclAllReduce";
    case Call::reduce:
      return "ncclReduce";
    case Call::broadcast:
      return "ncclBroadcast";
    case Call::all_gather:
      return "ncclAllGather";
    case Call::reduce_scatter:
      return "ncclReduceScatter";
    case Call::all_to_all:
      return "ncclAlltoAll";
    case Call::gather:
      return "ncclGather";
    case Call::scatter:
      return "ncclScatter";
    case Call::send:
    case Call::receive:  // it waits for one
      return "ncclSend";
  }
  return "";
}

uint32_t what(const Operation& operation) {
  Call call = operation.call == Call::receive ? Call::send : operation.call;
  bool one_to_one = call == Call::send;
  auto type = static_cast<uint32_t>(operation.type), kind = static_cast<uint32_t>(operation.kind);
  auto root = static_cast<uint32_t>(one_to_one ? 0 : operation.peer);
  return static_cast<uint32_t>(call) | type << 4 |
         (kind < own_reduction ? kind : uint32_t{own_reduction}) << 8 | root << 12;
}

Posted post(const Operation& operation) {
  Posted posted{&operation, operation.communicator->travel(), 0};
  const size_t bytes = operation.count * element_bytes(operation.type);
  if (!posted.travel || bytes == 0) return posted;
  Travel& travel = *posted.travel;
  const bool local = travel.ranks() == 1 && operation.call != Call::send && operation.call != Call::receive;
  if ((local && !operation.scalar) || largest_buffer(operation, travel.ranks()) > largest_travelling ||
      capturing(operation.stream)) {
    posted.travel = nullptr;
    return posted;
  }
  Sender sender{travel, operation, {}, bytes};
  sender.record.what = what(operation);
  sender.record.bytes = bytes;
  switch (operation.call) {
    case Call::send:
      sender.record.lane = Lane::point_to_point;
      posted.sequence = travel.next_to(operation.peer);
      break;
    case Call::receive:
      posted.sequence = travel.next_from(operation.peer);
      break;
    default:
      posted.sequence = travel.next_collective();
  }
  sender.record.sequence = posted.sequence;
  give(sender);
  posted.own_known = sender.own_known;
  return posted;
}

}  // namespace torchmem::vgpu::nccl
