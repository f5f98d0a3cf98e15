#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace torchmem::vgpu::nccl {

// What ncclGetUniqueId makes: opaque bytes that a program hands to every rank.
struct UniqueId {
  char bytes[128];
};

// The name that all ranks of a communicator know it by; the same in every process, different for every
// communicator of this machine.
struct Identity {
  uint64_t high = 0;
  uint64_t low = 0;

  std::string text() const;  // 32 hexadecimal digits
  bool operator==(const Identity&) const = default;
};

// Unlike any other on this machine.
UniqueId make_unique_id();

Identity identity_of(const UniqueId* ids, size_t count);
// The child that a communicator has by its `turn`th call of that kind, for the ranks that gave `colour`.
Identity child_of(const Identity& parent, char kind, uint64_t turn, uint64_t colour);

// Not cryptographic: equal bytes have equal sums.
uint64_t checksum(const void* bytes, size_t size, uint64_t seed);

}  // namespace torchmem::vgpu::nccl
