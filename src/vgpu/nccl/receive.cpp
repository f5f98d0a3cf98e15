// The second half of an operation: what this rank gets is waited for from now on, and looked for when
// somebody needs it (values.h, tmv_value_pending).
#include <algorithm>

#include "core.h"
#include "fidelity.h"
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
  bool own(void* to, int* state) const {
    Travel::Wanted mine = wanted;
    mine.from = travel->rank();
    return travel->look(mine, to, state) == Travel::Came::yes;
  }
};

// One rank's message.
struct Message : Arrival {
  std::vector<unsigned char> before;  // what was there, where that stands in for it
  int before_state = tmv_value_unknown;

  static int resolve(void* what, void* to) {
    auto& message = *static_cast<Message*>(what);
    int state = tmv_value_unknown;
    if (message.travel->fetch(message.wanted, to, &state) != Travel::Came::no) return state;
    if (message.wanted.lane == Lane::point_to_point) return tmv_value_unknown;
    if (!message.before.empty() && message.before_state != tmv_value_unknown) {
      std::copy(message.before.begin(), message.before.end(), static_cast<unsigned char*>(to));
      return tmv_value_assumed;
    }
    return message.own(to, &state) ? tmv_value_assumed : tmv_value_unknown;
  }
  static void release(void* what) { delete static_cast<Message*>(what); }
};

// What all ranks' messages make together.
struct Reduction : Arrival {
  size_t count = 0;
  int type = 0;
  int kind = 0;

  static int resolve(void* what, void* to) {
    auto& reduction = *static_cast<Reduction*>(what);
    const auto ranks = static_cast<size_t>(reduction.travel->ranks());
    std::vector<unsigned char> bytes(ranks * reduction.wanted.bytes);
    std::vector<const void*> contributions;
    int worst = tmv_value_known;
    for (size_t rank = 0; rank < ranks; ++rank) {
      unsigned char* at = bytes.data() + rank * reduction.wanted.bytes;
      contributions.push_back(at);
      reduction.wanted.from = static_cast<int>(rank);
      int state = tmv_value_unknown;
      bool came = reduction.travel->fetch(reduction.wanted, at, &state) != Travel::Came::no;
      if (!came && reduction.own(at, &state)) state = tmv_value_assumed;
      if (state == tmv_value_unknown) return state;
      worst = std::min(worst, state);
    }
    return nccl::reduce(contributions, to, reduction.count, reduction.type, reduction.kind)
               ? worst
               : tmv_value_unknown;
  }
  static void release(void* what) { delete static_cast<Reduction*>(what); }
};

// This rank's side of an operation.
class Receiver {
 public:
  explicit Receiver(const Posted& posted)
      : operation_(*posted.operation),
        posted_(posted),
        rank_(posted.travel->rank()),
        bytes_(operation_.count * element_bytes(operation_.type)) {}

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
                       : wait(new Message{arrival(operation_.peer), {}}, operation_.to);
      case Call::receive:
        return wait(new Message{arrival(operation_.peer), {}}, operation_.to);
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
    if (posted_.given == tmv_value_unknown) return tmv_written(address(operation_.to), bytes_);
    auto* what = new Reduction{arrival(rank_), operation_.count, operation_.type,
                               operation_.kind < kOwn ? operation_.kind : kSum};
    wait(what, operation_.to);
  }
  // If the root says nothing, this rank is taken to hold the same already.
  void broadcast() const {
    auto* message = new Message{arrival(operation_.peer), {}};
    if (bytes_ <= largest_stand_in) {
      message->before.resize(bytes_);
      message->before_state = tmv_value_peek(address(operation_.to), bytes_, message->before.data());
      if (message->before_state == tmv_value_unknown) std::vector<unsigned char>().swap(message->before);
    }
    wait(message, operation_.to);
  }
  void pieces(const void* own) const {
    for (int rank = 0; rank < posted_.travel->ranks(); ++rank) {
      if (rank == rank_)
        copy(piece(operation_.to, rank), own);
      else
        wait(new Message{arrival(rank), {}}, piece(operation_.to, rank));
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
  if (posted.travel)
    Receiver(posted).run();
  else
    do_alike(*posted.operation);
}

}  // namespace torchmem::vgpu::nccl
