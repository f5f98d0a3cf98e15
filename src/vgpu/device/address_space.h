#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "vgpu/device/gaps.h"

namespace torchmem::vgpu {

// Where the device's driver puts what is asked of it. Only numbers: nothing is mapped or stored here. Bytes
// throughout.
//
// The policy is the one read off real segment addresses (docs/facts/addresses.md): blocks of whole granules
// (2 MiB) go to the lowest hole that fits in a range already held; otherwise a new range of a multiple of 32
// MiB is taken from the highest gap of the process's address space that has room, the block at its low end,
// the rest a hole. A range without blocks is given back.
class AddressSpace {
 public:
  struct Range {
    uint64_t address = 0;
    uint64_t bytes = 0;
  };

  // What a fresh context holds, relative to `anchor`, the hole that a process's first 2 MiB allocation gets.
  struct Layout {
    uint64_t anchor = 0x7f61e3e00000;          // 2 MiB below a multiple of range_unit, as seen in every run
    uint64_t granule = uint64_t{2} << 20;      // of a block
    uint64_t range_unit = uint64_t{32} << 20;  // size and alignment of a range are multiples of it
    uint64_t local_memory = uint64_t{414} << 20;      // the kernels' local memory: ends at the anchor
    uint64_t context = uint64_t{72} << 20;            // the context's own, from anchor + granule
    uint64_t context_range = uint64_t{96} << 20;      // the range it is in; what it leaves is a hole
    uint64_t span = uint64_t{1} << 44;                // address space below the context's ranges
    uint64_t suballocated_below = uint64_t{1} << 20;  // smaller blocks share a granule ...
    uint64_t suballocation_unit = 512;                // ... at multiples of this
  };

  // What makes the driver and its libraries take space for themselves; each counts once a process. Report it
  // at the moment named: blocks allocated before it must be in place already.
  enum class ModuleEvent {
    device_assert,       // the first kernel that checks indices on the device (embedding, index_select) runs
    dropout,             // the first dropout kernel runs
    cublas_handle,       // the first cublasCreate
    cublas_kernel,       // the first matrix product runs (its output and workspace are there already)
    convolution_plan,    // the first convolution's plan is sought (its output is there, its workspace is not)
    convolution_kernel,  // the first convolution runs
    recurrent,           // the first cuDNN recurrent network is set up
  };
  static constexpr int module_events = 7;

  // In an address space of its own, `layout.span` below the context.
  explicit AddressSpace(const Layout& layout);
  AddressSpace() : AddressSpace(Layout()) {}
  // Takes its ranges from `gaps`; the layout's anchor and span say nothing then.
  AddressSpace(const Layout& layout, std::unique_ptr<Gaps> gaps);

  // The address of a new block, 0 when the address space is exhausted or `bytes` is 0.
  uint64_t allocate(uint64_t bytes);
  // Frees the block that starts at `address`; false when there is none.
  bool free(uint64_t address);
  // What was asked for at `address`, 0 when no block or reservation starts there.
  uint64_t size_of(uint64_t address) const;
  // Whether `address` is the device's: in a range that the driver holds, used or not.
  bool owns(uint64_t address) const;
  // The block or reservation that `address` lies in.
  std::optional<Range> find(uint64_t address) const;

  void reserve_modules(ModuleEvent event);

  // Address space alone (cuMemAddressReserve): a range of its own. `alignment` is a power of two or 0. 0 when
  // exhausted.
  uint64_t reserve(uint64_t bytes, uint64_t alignment);
  // Gives a reservation back; false when none starts at `address`.
  bool release(uint64_t address);

 private:
  struct Region {  // a range taken from the process's address space
    uint64_t end = 0;
    uint64_t used = 0;
  };
  struct Block {
    uint64_t requested = 0;
    uint64_t occupied = 0;
  };
  using Spaces = std::map<uint64_t, uint64_t>;  // free spaces: begin -> end

  uint64_t take_granules(uint64_t bytes);
  void give_granules(uint64_t address, uint64_t bytes);
  void set_local_memory(uint64_t bytes);
  uint64_t suballocate(uint64_t bytes);
  static uint64_t lowest_fit(const Spaces& spaces, uint64_t bytes);
  static void carve(Spaces& spaces, uint64_t address, uint64_t bytes);
  static Spaces::iterator add_space(Spaces& spaces, uint64_t begin, uint64_t end);

  Layout layout_;
  std::unique_ptr<Gaps> gaps_;  // of the process's address space
  Spaces holes_;                // inside regions
  std::map<uint64_t, Region> regions_;
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, Block> reservations_;
  std::map<uint64_t, Spaces> shared_;  // granules that small blocks share, and what is free in each
  Range local_memory_;
  std::array<bool, module_events> loaded_{};
};

}  // namespace torchmem::vgpu
