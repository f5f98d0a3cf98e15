// The second half of an operation: what this rank gets is waited for from now on, and looked for when
// somebody needs it (values.h, tmv_value_pending).
#include <algorithm>
#include <cstring>

#include "assumptions.h"
#include "core.h"
#include "numbers.h"
#include "operation.h"
#include "values.h"

namespace torchmem::vgpu::nccl {
namespace {

constexpr size_t largest_stand_in = size_t{64} << 10;

uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// What is waited for, as the device keeps it.
struct Arrival {
  std::shared_ptr<Travel> travel;
  Travel::Wanted wanted;

  // The same of another rank, where they are alike: what this one gave in its place.
  void take_own(void* to, unsigned char* states) const {
    Travel::Wanted mine = wanted;
    mine.from = travel->rank();
    travel->look(mine, to, states);
    assume(states, wanted.bytes);
  }
  static void assume(unsigned char* states, size_t size) {
    for (size_t i = 0; i < size; ++i) states[i] = std::min<unsigned char>(states[i], tmv_value_assumed);
  }
};

// One rank's message.
struct Message : Arrival {
  // What was there, where that stands in for it; else empty.
  std::vector<unsigned char> before, before_states;

  static void resolve(void* what, void* to, unsigned char* states) {
    auto& message = *static_cast<Message*>(what);
    if (message.travel->fetch(message.wanted, to, states) != Travel::Came::no) return;
    if (message.wanted.lane == Lane::point_to_point) return;
    if (message.before.empty()) return message.take_own(to, states);
    std::memcpy(to, message.before.data(), message.before.size());
    std::memcpy(states, message.before_states.data(), message.before_states.size());
    assume(states, message.before.size());
  }
  static void release(void* what) { delete static_cast<Message*>(what); }
};

// What all ranks' messages make together.
struct Reduction : Arrival {
  size_t count = 0;
  int type = 0;
  int kind = 0;

  static void resolve(void* what, void* to, unsigned char* states) {
    auto& reduction = *static_cast<Reduction*>(what);
    const auto ranks = static_cast<size_t>(reduction.travel->ranks());
    const size_t bytes = reduction.wanted.bytes;
    std::vector<unsigned char> all(ranks * bytes), one(bytes);
    std::vector<const void*> contributions;
    std::memset(states, tmv_value_known, bytes);
    for (size_t rank = 0; rank < ranks; ++rank) {
      unsigned char* at = all.data() + rank * bytes;
      contributions.push_back(at);
      reduction.wanted.from = static_cast<int>(rank);
      if (reduction.travel->fetch(reduction.wanted, at, one.data()) == Travel::Came::no)
        reduction.take_own(at, one.data());
      for (size_t i = 0; i < bytes; ++i) states[i] = std::min(states[i], one[i]);
    }
    if (!nccl::reduce(contributions, to, reduction.count, reduction.type, reduction.kind))
      std::memset(states, tmv_value_unknown, bytes);
    element_states(states, bytes, element_bytes(reduction.type));
  }
  // An element is as known as the least known of its bytes.
  static void element_states(unsigned char* states, size_t bytes, size_t element) {
    for (size_t at = 0; at < bytes; at += element)
      std::memset(states + at, *std::min_element(states + at, states + at + element), element);
  }
  static void release(void* what) { delete static_cast<Reduction*>(what); }
};

// All ranks' part in a call that none of them ends before all have begun it.
struct Meeting : Arrival {
  static void wait(void* what) {
    auto& meeting = *static_cast<Meeting*>(what);
    for (int rank = 0; rank < meeting.travel->ranks(); ++rank) {
      meeting.wanted.from = rank;
      if (rank != meeting.travel->rank()) meeting.travel->wait_for(meeting.wanted);
    }
  }
  static void release(void* what) { delete static_cast<Meeting*>(what); }
};

// This rank's side of an operation.
class Receiver {
 public:
  explicit Receiver(const Posted& posted)
      : operation_(*posted.operation),
        posted_(posted),
        rank_(posted.travel->rank()),
        bytes_(operation_.count * element_bytes(operation_.type)) {}

  // The host that synchronizes with the stream waits for the others: a barrier is an allReduce of one
  // element.
  void meet() const {
    switch (operation_.call) {
      case Call::all_reduce:
      case Call::all_gather:
      case Call::reduce_scatter:
      case Call::all_to_all:
        return tmv_stream_awaits(operation_.stream, posted_.travel.get(), Meeting::wait, Meeting::release,
                                 new Meeting{arrival(rank_)});
      default:
        return;
    }
  }

  void run() {
    const bool is_root = operation_.peer == rank_;
    switch (operation_.call) {
      case Call::reduce:
        return is_root ? reduction() : void();
      case Call::all_reduce:
      case Call::reduce_scatter:
        return reduction();
      case Call::broadcast:
        return is_root ? copy(operation_.to, operation_.from) : broadcast();
      case Call::gather:
        return is_root ? pieces(operation_.from) : void();
      case Call::all_gather:
        return pieces(operation_.from);
      case Call::all_to_all:
        return pieces(piece(operation_.from, rank_));
      case Call::scatter:
        return is_root ? copy(operation_.to, piece(operation_.from, rank_))
                       : wait(new Message{arrival(operation_.peer), {}, {}}, operation_.to);
      case Call::receive:
        return wait(new Message{arrival(operation_.peer), {}, {}}, operation_.to);
      case Call::send:
        return;
    }
  }

 private:
  const char* piece(const void* buffer, int rank) const {
    return static_cast<const char*>(buffer) + bytes_ * static_cast<size_t>(rank);
  }
  Arrival arrival(int from) const {
    const bool one_to_one = operation_.call == Call::receive;
    return {posted_.travel,
            {from, one_to_one ? Lane::point_to_point : Lane::collective, posted_.sequence, what(operation_),
             bytes_, name(operation_.call),
             one_to_one ? "what it sends is not known" : "it is taken to hold what this rank holds"}};
  }
  template <class What>
  void wait(What* what, const void* to) const {
    tmv_value_pending(address(to), bytes_, What::resolve, What::release, what);
  }
  void copy(const void* to, const void* from) const {
    if (to != from) tmv_copy(const_cast<void*>(to), from, bytes_);
  }

  // Where this rank's own part is unknown so is the result: nobody needs to wait.
  void reduction() const {
    if (!posted_.own_known) return tmv_written(address(operation_.to), bytes_);
    auto* what = new Reduction{arrival(rank_), operation_.count, operation_.type,
                               operation_.kind < own_reduction ? operation_.kind : reduction_sum};
    wait(what, operation_.to);
  }
  // If the root says nothing, this rank is taken to hold the same already.
  void broadcast() const {
    auto* message = new Message{arrival(operation_.peer), {}, {}};
    if (bytes_ <= largest_stand_in) {
      message->before.resize(bytes_);
      message->before_states.resize(bytes_);
      tmv_value_peek(address(operation_.to), bytes_, message->before.data());
      tmv_value_states(address(operation_.to), bytes_, message->before_states.data());
    }
    wait(message, operation_.to);
  }
  void pieces(const void* own) const {
    for (int rank = 0; rank < posted_.travel->ranks(); ++rank) {
      if (rank == rank_)
        copy(piece(operation_.to, rank), own);
      else
        wait(new Message{arrival(rank), {}, {}}, piece(operation_.to, rank));
    }
  }

  const Operation& operation_;
  const Posted& posted_;
  const int rank_;
  const size_t bytes_;
};

}  // namespace

void receive(const Posted& posted) {
  if (posted.operation->count == 0) return;
  if (!posted.travel) return do_alike(*posted.operation);
  Receiver receiver(posted);
  receiver.run();
  receiver.meet();
}

}  // namespace torchmem::vgpu::nccl
