#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "identity.h"
#include "mutex.h"
#include "travel.h"

namespace torchmem::vgpu::nccl {

// One rank of one communicator, as a program holds it (ncclComm_t). Making one never waits. Who is in one
// that was split off is known when all ranks of the parent have said so; the first who asks waits for that.
class Communicator {
 public:
  // Rank `rank` of `ranks`, of all who give that identity.
  Communicator(const Identity& identity, int ranks, int rank);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // ncclCommSplit: the ranks of equal colour, ordered by key, then by their rank here. Null for colour -1.
  std::unique_ptr<Communicator> split(int colour, int key);
  // ncclCommShrink: all ranks but these, in their order.
  std::unique_ptr<Communicator> without(const std::vector<int>& excluded);

  int ranks() { return members().ranks; }
  int rank() { return members().rank; }
  // How messages reach the other ranks: null where there is no way (a child made by fork has none, either),
  // and ranks are taken to be alike.
  std::shared_ptr<Travel> travel() {
    members();
    return travel_ && travel_->mine() ? travel_ : nullptr;
  }

 private:
  struct Members {
    int ranks = 1;
    int rank = 0;
    std::vector<int> numbers;  // by rank (travel.h)
  };
  struct Split {
    std::shared_ptr<Travel> parent;
    std::vector<int> numbers;  // of the parent's ranks
    uint64_t sequence = 0;
    int colour = 0;
    int key = 0;
  };
  Communicator(const Identity& identity, int number) : identity_(identity), number_(number) {}

  const Members& members();
  static Members resolve(const Split& split);
  void set_members(Members members);

  const Identity identity_;
  const int number_;  // of this rank in all communicators that are split off
  std::shared_ptr<Travel> travel_;
  std::optional<Split> split_;  // while it is not known who is in it
  Mutex mutex_;                 // guards what follows, is not held while waiting
  std::optional<Members> members_;
  std::atomic<uint64_t> children_{0};
};

}  // namespace torchmem::vgpu::nccl
