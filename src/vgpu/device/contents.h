#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace torchmem::vgpu {

// What is known of the device's memory: bytes that the host wrote and nothing has overwritten since. Small
// writes are kept as they are, runs of one byte (memset) as a run, everything else is unknown. Bounded, so
// that a model's size costs no memory.
class Contents {
 public:
  static constexpr size_t max_write = size_t{64} << 10;  // a larger copy is not kept
  static constexpr size_t max_total = size_t{16} << 20;  // of all kept copies

  void write(uint64_t address, const void* bytes, size_t size);
  void fill(uint64_t address, unsigned char byte, size_t size);
  void forget(uint64_t address, size_t size);
  // What is known at `source` becomes what is known at `destination`; the ranges may overlap.
  void copy(uint64_t destination, uint64_t source, size_t size);
  // Fills `bytes`: what is known, zero elsewhere. Returns how many bytes were not known.
  size_t read(uint64_t address, void* bytes, size_t size) const;

 private:
  struct Piece {
    size_t size = 0;
    bool uniform = false;
    unsigned char byte = 0;
    std::vector<unsigned char> kept;
  };
  void insert(uint64_t address, Piece piece);
  static Piece slice(const Piece& piece, size_t offset, size_t size);

  std::map<uint64_t, Piece> pieces_;  // disjoint
  size_t total_ = 0;                  // bytes kept
};

}  // namespace torchmem::vgpu
