#include "identity.h"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace torchmem::vgpu::nccl {

uint64_t checksum(const void* bytes, size_t size, uint64_t seed) {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15ull;  // 2^64 over the golden ratio
  auto mix = [](uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * odd;
    return sum ^ (sum >> 29);
  };
  auto* at = static_cast<const unsigned char*>(bytes);
  uint64_t sum = mix(seed ^ odd, size);
  for (; size >= sizeof sum; size -= sizeof sum, at += sizeof sum) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    sum = mix(sum, word);
  }
  uint64_t rest = 0;
  if (size > 0) std::memcpy(&rest, at, size);
  return mix(mix(sum, rest), odd);
}

std::string Identity::text() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}

UniqueId make_unique_id() {
  static std::atomic<unsigned> made{0};
  UniqueId id{};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t random[2] = {};
  ssize_t got = getrandom(random, sizeof random, GRND_NONBLOCK);  // without it pid and time still tell apart
  (void)got;
  std::snprintf(id.bytes, sizeof id.bytes, "virtual-%ld-%u-%lld-%ld-%016llx%016llx",
                static_cast<long>(getpid()), made.fetch_add(1), static_cast<long long>(now.tv_sec),
                now.tv_nsec, static_cast<unsigned long long>(random[0]),
                static_cast<unsigned long long>(random[1]));
  return id;
}

Identity identity_of(const UniqueId* ids, size_t count) {
  return {checksum(ids, count * sizeof *ids, 1), checksum(ids, count * sizeof *ids, 2)};
}

Identity child_of(const Identity& parent, char kind, uint64_t turn, uint64_t colour) {
  const uint64_t words[] = {parent.high, parent.low, static_cast<uint64_t>(kind), turn, colour};
  return {checksum(words, sizeof words, 1), checksum(words, sizeof words, 2)};
}

}  // namespace torchmem::vgpu::nccl
