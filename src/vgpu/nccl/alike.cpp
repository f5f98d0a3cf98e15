#include "assumptions.h"
#include "core.h"
#include "numbers.h"
#include "operation.h"

namespace torchmem::vgpu::nccl {
namespace {

constexpr size_t largest_counted = size_t{64} << 10;  // larger ones are no sizes or flags

void unknown(void* to, size_t bytes) { tmv_written(reinterpret_cast<uint64_t>(to), bytes); }

void copied(void* to, const void* from, size_t bytes) {
  if (from != to) tmv_copy(to, from, bytes);
}

// What these make of equal values is the value.
bool keeps_equal_values(int kind) {
  return kind == reduction_max || kind == reduction_min || kind == reduction_average;
}

void reduced(const Operation& operation, size_t bytes, int ranks) {
  bool same = keeps_equal_values(operation.kind) || (ranks == 1 && !operation.scalar);
  if (same)
    copied(operation.to, operation.from, bytes);
  else
    unknown(operation.to, bytes);
}

// `ranks` pieces, each this rank's own.
void gathered(const Operation& operation, size_t bytes, int ranks) {
  auto* piece = static_cast<char*>(operation.to);
  for (int rank = 0; rank < ranks; ++rank, piece += bytes) copied(piece, operation.from, bytes);
  if (ranks > 1 && bytes <= largest_counted) tmv_count_value(reinterpret_cast<uint64_t>(operation.to), bytes);
}

}  // namespace

void do_alike(const Operation& operation) {
  const int ranks = operation.communicator->ranks(), rank = operation.communicator->rank();
  const bool is_root = operation.peer == rank;
  const size_t bytes = operation.count * element_bytes(operation.type);
  const size_t all = bytes * static_cast<size_t>(ranks);
  switch (operation.call) {
    case Call::all_reduce:
      return reduced(operation, bytes, ranks);
    case Call::reduce:
      return is_root ? reduced(operation, bytes, ranks) : void();
    case Call::broadcast:  // elsewhere the buffer is taken to hold the same already
      return is_root ? copied(operation.to, operation.from, bytes) : void();
    case Call::all_gather:
      return gathered(operation, bytes, ranks);
    case Call::gather:
      return is_root ? gathered(operation, bytes, ranks) : void();
    case Call::reduce_scatter:
      return ranks == 1 ? reduced(operation, bytes, ranks) : unknown(operation.to, bytes);
    case Call::all_to_all:
      return ranks == 1 ? copied(operation.to, operation.from, bytes) : unknown(operation.to, all);
    case Call::scatter:
      return is_root
                 ? copied(operation.to,
                          static_cast<const char*>(operation.from) + bytes * static_cast<size_t>(rank), bytes)
                 : unknown(operation.to, bytes);
    case Call::receive:
      return unknown(operation.to, bytes);
    case Call::send:
      return;
  }
}

}  // namespace torchmem::vgpu::nccl
