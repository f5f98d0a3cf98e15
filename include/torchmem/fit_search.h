// The largest size that fits, by running few sizes. What a size needs is not monotone (reserved memory may
// shrink as a batch grows, and whole ranges of sizes need less than those below them), so a trend only says
// which sizes to run next: the answer is one that was run, and so were the sizes right above it, which do not
// fit, and some further up, as far as allocated memory alone has room. Which sizes are run depends on nothing
// but what the sizes need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace torchmem {

struct FitBounds {
  uint64_t least = 1;
  uint64_t most = uint64_t{1} << 30;
  uint64_t multiple = 1;  // only multiples of it are run
  // How many sizes above the answer must have been run without fitting; absent: 4 to 12, as many as may fit
  // by their allocated bytes alone, or, where those are not known, 4 to 8, by how unevenly memory was seen to
  // grow.
  std::optional<uint64_t> check;
  bool exhaustive = false;  // run every size up to the first that does not fit, and the checked ones
};

class FitSearch {
 public:
  // `capacity`: the bytes that the allocator may reserve, as far as known; only used to choose sizes. 0:
  // unknown.
  FitSearch(const FitBounds& bounds, uint64_t capacity);

  // Sizes to run next, in any order or all at once, none twice. Empty when the search is over. Each must be
  // given to `add` before the next call.
  std::vector<uint64_t> next();

  // What came of a size. The peaks are of one that fits; 0: not known.
  void add(uint64_t size, bool fits, uint64_t reserved = 0, uint64_t allocated = 0);
  void set_capacity(uint64_t capacity) { capacity_ = capacity; }

  // The largest size that was run and fits.
  std::optional<uint64_t> largest() const;
  // Every size from largest() + 1 (or the least) up to this one was run and does not fit; largest() itself
  // when that is the most that was allowed.
  uint64_t checked_through() const;
  // Whether the answer is the largest size that was allowed, so that more may fit.
  bool at_most() const;

 private:
  struct VariantResult {
    bool fits = false;
    uint64_t reserved = 0;
    uint64_t allocated = 0;
  };
  // All of these count in multiples.
  std::vector<uint64_t> choose();
  std::vector<uint64_t> around(uint64_t center, uint64_t step, uint64_t low, uint64_t high) const;
  std::vector<uint64_t> thirds(uint64_t low, uint64_t high) const;
  std::vector<uint64_t> untried(uint64_t low, uint64_t high) const;
  std::vector<uint64_t> probes(uint64_t low) const;
  std::optional<uint64_t> predict() const;
  std::optional<uint64_t> first_failure_above(uint64_t index) const;
  std::optional<uint64_t> largest_index() const;
  uint64_t window() const;
  uint64_t unevenness() const;
  std::optional<double> room_by_allocated() const;

  uint64_t multiple_;
  uint64_t least_;
  uint64_t most_;
  std::optional<uint64_t> check_;
  bool exhaustive_;
  uint64_t capacity_;
  std::map<uint64_t, VariantResult> trials_;
  uint64_t last_width_ = 0;  // of the bracket when it was last interpolated
};

}  // namespace torchmem
