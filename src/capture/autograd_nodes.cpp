#include "capture/autograd_nodes.h"

#include <ATen/record_function.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "capture/place.h"

namespace torchmem::capture {
namespace {

// Never destroyed, because the autograd threads outlive static destructors.
struct Creators {
  std::mutex mutex;
  // By the thread's id and the node's sequence number.
  std::unordered_map<std::uint64_t, const Place*> places;
};

Creators& creators() {
  static auto* instance = new Creators;
  return *instance;
}

// Threads are numbered from 1, and no run has 2^48 nodes.
std::uint64_t creator_key(std::uint64_t thread, std::int64_t sequence) {
  return (thread << 48) ^ static_cast<std::uint64_t>(sequence);
}

}  // namespace

void remember_creator(const at::RecordFunction& op, const Place* place) {
  if (place == nullptr) return;
  const std::lock_guard lock(creators().mutex);
  creators().places[creator_key(op.threadId(), op.seqNr())] = place;
}

const Place* creator_of(const at::RecordFunction& node) {
  const std::lock_guard lock(creators().mutex);
  const auto creator = creators().places.find(creator_key(node.forwardThreadId(), node.seqNr()));
  if (creator == creators().places.end()) return nullptr;
  const Place* place = creator->second;
  // A program never says when a graph is gone, and a node runs once as a rule.
  if (follows_python()) creators().places.erase(creator);
  return place;
}

void forget_creators() {
  const std::lock_guard lock(creators().mutex);
  creators().places.clear();
}

}  // namespace torchmem::capture
