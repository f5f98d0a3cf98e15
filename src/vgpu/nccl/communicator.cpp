#include "communicator.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "values.h"

namespace torchmem::vgpu::nccl {
namespace {

struct Choice {
  int32_t colour = 0;
  int32_t key = 0;
};

constexpr uint32_t what_split = 0x73706c69;

}  // namespace

Communicator::Communicator(const Identity& identity, int ranks, int rank)
    : identity_(identity), number_(rank), travel_(Travel::join(identity, rank, ranks)) {
  Members members{ranks, rank, {}};
  for (int number = 0; number < ranks; ++number) members.numbers.push_back(number);
  set_members(std::move(members));
}

Communicator::~Communicator() {
  if (travel_) travel_->leave();
}

void Communicator::set_members(Members members) {
  std::lock_guard<Mutex> lock(mutex_);
  if (members_) return;  // two threads asked at once and got the same
  if (travel_) travel_->set_ranks(members.numbers);
  members_ = std::move(members);
}

const Communicator::Members& Communicator::members() {
  {
    std::lock_guard<Mutex> lock(mutex_);
    if (members_) return *members_;
  }
  set_members(resolve(*split_));
  return *members_;
}

// A rank that says nothing is taken to have said what this one said, with the key of its place.
Communicator::Members Communicator::resolve(const Split& split) {
  Travel& parent = *split.parent;
  struct Member {
    int key, rank;
  };
  std::vector<Member> found;
  for (int rank = 0; rank < parent.ranks(); ++rank) {
    Choice choice{split.colour, split.key};
    if (rank != parent.rank()) {
      Travel::Wanted wanted{rank,
                            Lane::collective,
                            split.sequence,
                            what_split,
                            sizeof choice,
                            "ncclCommSplit",
                            "it is taken to be in the same group"};
      unsigned char states[sizeof choice];
      if (parent.fetch(wanted, &choice, states) != Travel::Came::yes)
        choice = {split.colour, split.key + rank - parent.rank()};
    }
    if (choice.colour == split.colour) found.push_back({choice.key, rank});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Member& a, const Member& b) { return a.key < b.key; });
  Members members;
  members.ranks = static_cast<int>(found.size());
  for (const Member& member : found) {
    if (member.rank == parent.rank()) members.rank = static_cast<int>(members.numbers.size());
    members.numbers.push_back(split.numbers[static_cast<size_t>(member.rank)]);
  }
  return members;
}

std::unique_ptr<Communicator> Communicator::split(int colour, int key) {
  const Members& all = members();
  const uint64_t turn = children_.fetch_add(1);
  uint64_t sequence = 0;
  if (travel_) {
    Choice choice{colour, key};
    Record record;
    record.what = what_split;
    record.sequence = sequence = travel_->next_collective();
    record.bytes = sizeof choice;
    unsigned char states[sizeof choice];
    std::memset(states, tmv_value_known, sizeof states);
    travel_->post(record, &choice, states);
  }
  if (colour < 0) return nullptr;
  Identity identity = child_of(identity_, 's', turn, static_cast<uint64_t>(colour));
  std::unique_ptr<Communicator> child(new Communicator(identity, number_));
  if (travel_) child->travel_ = Travel::join(identity, number_, all.ranks);
  if (travel_)
    child->split_ = Split{travel_, all.numbers, sequence, colour, key};
  else
    child->set_members(all);
  return child;
}

std::unique_ptr<Communicator> Communicator::without(const std::vector<int>& excluded) {
  const Members& all = members();
  Members left{0, 0, {}};
  for (int rank = 0; rank < all.ranks; ++rank) {
    if (std::find(excluded.begin(), excluded.end(), rank) != excluded.end()) continue;
    if (rank == all.rank) left.rank = left.ranks;
    left.numbers.push_back(all.numbers[static_cast<size_t>(rank)]);
    ++left.ranks;
  }
  uint64_t who = checksum(left.numbers.data(), left.numbers.size() * sizeof(int), 0);
  Identity identity = child_of(identity_, 'w', children_.fetch_add(1), who);
  std::unique_ptr<Communicator> child(new Communicator(identity, number_));
  if (travel_) child->travel_ = Travel::join(identity, number_, left.ranks);
  child->set_members(std::move(left));
  return child;
}

}  // namespace torchmem::vgpu::nccl
