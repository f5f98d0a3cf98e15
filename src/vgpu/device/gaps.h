#pragma once

#include <cstdint>
#include <map>

namespace torchmem::vgpu {

// The process's address space, out of which the driver takes its ranges: the highest gap that has room, at
// its upper end.
class Gaps {
 public:
  virtual ~Gaps() = default;
  // `bytes` of address space at a multiple of `alignment`; 0 when there is no room.
  virtual uint64_t take(uint64_t bytes, uint64_t alignment) = 0;
  virtual void give(uint64_t address, uint64_t bytes) = 0;
};

// An address space that nobody else uses: the same for every process, whatever it maps.
class ModelGaps : public Gaps {
 public:
  ModelGaps(uint64_t begin, uint64_t end);
  uint64_t take(uint64_t bytes, uint64_t alignment) override;
  void give(uint64_t address, uint64_t bytes) override;

 private:
  std::map<uint64_t, uint64_t> gaps_;  // begin -> end
};

// This process's own address space. Host buffers, libraries and device ranges then lie as they do beside a
// real driver, and a range that is taken keeps everybody else out (it is mapped without access). Needs
// /proc/self/maps.
class ProcessGaps : public Gaps {
 public:
  uint64_t take(uint64_t bytes, uint64_t alignment) override;
  void give(uint64_t address, uint64_t bytes) override;
};

}  // namespace torchmem::vgpu
