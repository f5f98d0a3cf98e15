#include "travel.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "peer_process.h"
#include "values.h"

namespace torchmem::vgpu::nccl {
namespace {

constexpr long default_wait = 30000;
constexpr long shortest_sleep = 50'000;    // ns
constexpr long longest_sleep = 2'000'000;  // ns

long wait_milliseconds() {
  const char* given = std::getenv("TORCHMEM_NCCL_WAIT_MS");
  return given && *given ? std::atol(given) : default_wait;
}

long milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

std::string path_of(const std::string& stem, int number) { return stem + "-" + std::to_string(number); }

}  // namespace

std::shared_ptr<Travel> Travel::join(const Identity& identity, int number, int ranks) {
  const char* folder = std::getenv("TORCHMEM_RUN_DIR");
  if (!folder || !*folder) return nullptr;
  auto travel = std::make_shared<Travel>(std::string(folder) + "/nccl-" + identity.text(), number, ranks);
  return travel->log_.made() ? travel : nullptr;
}

Travel::Travel(const std::string& stem, int number, int ranks)
    : stem_(stem), number_(number), log_(path_of(stem, number), number, ranks) {}

void Travel::set_ranks(const std::vector<int>& numbers) {
  auto me = std::find(numbers.begin(), numbers.end(), number_);
  rank_ = static_cast<int>(me - numbers.begin());
  for (int number : numbers) peers_.push_back(std::make_unique<Peer>(path_of(stem_, number), rank_));
  sent_ = std::make_unique<std::atomic<uint64_t>[]>(numbers.size());
  received_ = std::make_unique<std::atomic<uint64_t>[]>(numbers.size());
}

Travel::Found Travel::take(Peer& peer, const Wanted& wanted, void* to, unsigned char* states) {
  Record record;
  uint64_t at = 0;
  Found found = peer.log.find(wanted.lane, wanted.sequence, &record, &at);
  std::memset(states, tmv_value_unknown, wanted.bytes);
  if (found != Found::here) return found;
  if (record.what != wanted.what || record.bytes != wanted.bytes) {
    if (!peer.said.exchange(true))
      say("NCCL: rank %d of %d: %s of %zu bytes meets another call of rank %d, of %llu bytes: what it gives "
          "is "
          "not known",
          rank_, ranks(), wanted.name, wanted.bytes, wanted.from,
          static_cast<unsigned long long>(record.bytes));
    return Found::unknown;
  }
  if (peer.log.read(record, at, to, states)) return Found::here;
  std::memset(states, tmv_value_unknown, wanted.bytes);
  return Found::broken;
}

Travel::Came Travel::look(const Wanted& wanted, void* to, unsigned char* states) {
  Found found = take(*peers_[static_cast<size_t>(wanted.from)], wanted, to, states);
  return found == Found::here ? Came::yes : found == Found::unknown ? Came::unknown : Came::no;
}

void Travel::say_missing(Peer& peer, const Wanted& wanted, Found found) {
  if (peer.said.exchange(true)) return;
  const char* reason = found == Found::not_there ? "never joined"
                       : found == Found::not_yet ? "did not send it"
                       : found == Found::left    ? "gave up the communicator before"
                       : found == Found::ended   ? "ended before"
                                                 : "left a broken log";
  say("NCCL: rank %d of %d waits for %s of rank %d, which %s: %s (TORCHMEM_NCCL_WAIT_MS=%ld)", rank_, ranks(),
      wanted.name, wanted.from, reason, wanted.instead, wait_milliseconds());
}

// Tries until it is not to be waited for any more, or comes no more.
template <class Try>
Travel::Found Travel::wait_until(const Wanted& wanted, Try&& try_it) {
  Peer& peer = *peers_[static_cast<size_t>(wanted.from)];
  const long end = milliseconds() + wait_milliseconds();
  for (timespec pause{0, shortest_sleep};; pause.tv_nsec = std::min(pause.tv_nsec * 2, longest_sleep)) {
    Found found = try_it(peer);
    if (found == Found::here || found == Found::unknown) return found;
    bool may_come = found == Found::not_yet || found == Found::not_there;
    if (!may_come || peer.given_up || milliseconds() >= end) {
      if (may_come) peer.given_up = true;
      say_missing(peer, wanted, found);
      return found;
    }
    nanosleep(&pause, nullptr);
  }
}

Travel::Came Travel::fetch(const Wanted& wanted, void* to, unsigned char* states) {
  Found found = wait_until(wanted, [&](Peer& peer) { return take(peer, wanted, to, states); });
  return found == Found::here ? Came::yes : found == Found::unknown ? Came::unknown : Came::no;
}

void Travel::wait_for(const Wanted& wanted) {
  Record record;
  uint64_t at = 0;
  wait_until(wanted, [&](Peer& peer) { return peer.log.find(wanted.lane, wanted.sequence, &record, &at); });
}

}  // namespace torchmem::vgpu::nccl
