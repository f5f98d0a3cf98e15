#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "host_file.h"
#include "values.h"

namespace torchmem::vgpu {

// What is known of the device's memory: bytes that the host wrote or an operator was computed to write, and
// nothing has overwritten since. Small writes are kept as they are, large ones in a file (host_file.h), runs
// of one value (memset, fill_) as a run; everything else is unknown. Bounded, so that a model's size costs no
// memory. Bytes that are there are known, or assumed: what stands in for a value that only a kernel would
// have computed, and all that was computed from it.
class Contents {
 public:
  static constexpr size_t max_write = size_t{1} << 20;   // a larger one is kept in a file, or not at all
  static constexpr size_t max_total = size_t{64} << 20;  // of all that is kept in memory
  static constexpr size_t max_unit = 16;                 // of a run's value: a complex number of two doubles

  // How much of a range is not known for certain, in bytes.
  struct Doubt {
    size_t unknown = 0;
    size_t assumed = 0;
  };
  struct Range {
    uint64_t address = 0;
    size_t size = 0;
  };

  // Where large writes go from now on; null (so it begins): nowhere.
  void keep_large(HostFile* file) { large_ = file; }

  void write(uint64_t address, const void* bytes, size_t size, int state = tmv_value_known);
  void fill(uint64_t address, unsigned char byte, size_t size);
  // The `unit` bytes at `value` again and again; `size` is a multiple of `unit`, at most max_unit.
  void repeat(uint64_t address, const void* value, size_t unit, size_t size, int state);
  void forget(uint64_t address, size_t size);
  // What is known at `source` becomes what is known at `destination`; the ranges may overlap.
  void copy(uint64_t destination, uint64_t source, size_t size);
  // Fills `bytes`: what is known or assumed, zero elsewhere. `gaps`, unless null, gets the unknown ranges.
  Doubt read(uint64_t address, void* bytes, size_t size, std::vector<Range>* gaps = nullptr) const;
  // The same without the bytes.
  Doubt doubt(uint64_t address, size_t size) const;
  // The state of each byte.
  void states(uint64_t address, size_t size, unsigned char* states) const;
  // What is unknown of the range, rising.
  std::vector<Range> gaps(uint64_t address, size_t size) const;

 private:
  struct Piece {
    size_t size = 0;
    bool assumed = false;
    std::vector<unsigned char> kept;       // all bytes, or a run's value
    bool run = false;                      // whether `kept` is repeated
    std::shared_ptr<const Extent> stored;  // or they are here,
    size_t stored_at = 0;                  // from this byte on
  };
  void insert(uint64_t address, Piece piece);
  static Piece slice(const Piece& piece, size_t offset, size_t size);
  static size_t held(const Piece& piece) { return piece.run ? 0 : piece.kept.size(); }
  // Whether the piece's bytes could be had: a file may have been taken away.
  static bool read_piece(const Piece& piece, size_t offset, unsigned char* to, size_t size);
  template <class Visit>
  void visit(uint64_t address, size_t size, Visit&& visit) const;

  std::map<uint64_t, Piece> pieces_;  // disjoint
  size_t total_ = 0;                  // bytes kept in memory
  HostFile* large_ = nullptr;
};

}  // namespace torchmem::vgpu
