#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "identity.h"
#include "log.h"

namespace torchmem::vgpu::nccl {

// Messages up to this size travel between ranks. Ranks decide by count and type alone, so that they agree.
constexpr size_t largest_travelling = size_t{1} << 20;

// One rank's share in one communicator: what it gives to the others, and what it gets of them. The ranks find
// each other through files in the folder of the run (TORCHMEM_RUN_DIR); a rank has a number in them, which
// the communicators that are split off keep.
//
// Nothing here waits but fetch(), and that not for ever: TORCHMEM_NCCL_WAIT_MS, 30 s when not given. Who was
// waited for in vain is not waited for again.
class Travel {
 public:
  // Null where the process does not belong to a run, or its folder takes no files.
  static std::shared_ptr<Travel> join(const Identity& identity, int number, int ranks);
  Travel(const std::string& stem, int number, int ranks);

  // Which numbers its ranks have, in their order. Before that nothing can be fetched.
  void set_ranks(const std::vector<int>& numbers);

  // The number of a message in its lane. Every rank counts every one.
  uint64_t next_collective() { return collectives_.fetch_add(1); }
  uint64_t next_to(int rank) { return sent_[static_cast<size_t>(rank)].fetch_add(1); }
  uint64_t next_from(int rank) { return received_[static_cast<size_t>(rank)].fetch_add(1); }

  void post(const Record& record, const void* payload, const unsigned char* states) {
    log_.append(record, payload, states);
  }

  enum class Came { yes, unknown, no };
  struct Wanted {
    int from = 0;  // a rank
    Lane lane = Lane::collective;
    uint64_t sequence = 0;
    uint32_t what = 0;
    size_t bytes = 0;
    const char* name = "";     // of the call, for messages
    const char* instead = "";  // what is taken if it does not come, likewise
  };
  // Waits for a rank's message and puts its payload into `to`, the state of each byte into `states`: zero
  // (unknown) where it did not come.
  Came fetch(const Wanted& wanted, void* to, unsigned char* states);
  // Waits until the rank has given that, whatever it is.
  void wait_for(const Wanted& wanted);
  // Like fetch(), but without waiting, and without a word.
  Came look(const Wanted& wanted, void* to, unsigned char* states);

  // Whether this process made it, and not its parent before fork.
  bool mine() const { return log_.mine(); }
  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(peers_.size()); }
  // Nothing is posted any more.
  void leave() { log_.leave(); }

 private:
  struct Peer {
    Peer(std::string path, int reader) : log(std::move(path), reader) {}
    LogReader log;
    std::atomic<bool> given_up{false};
    std::atomic<bool> said{false};
  };
  using Found = LogReader::Found;
  template <class Try>
  Found wait_until(const Wanted& wanted, Try&& try_it);
  Found take(Peer& peer, const Wanted& wanted, void* to, unsigned char* states);
  void say_missing(Peer& peer, const Wanted& wanted, Found found);

  const std::string stem_;
  const int number_;
  LogWriter log_;
  int rank_ = -1;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank
  std::atomic<uint64_t> collectives_{0};
  std::unique_ptr<std::atomic<uint64_t>[]> sent_, received_;  // by rank
};

}  // namespace torchmem::vgpu::nccl
