#include "vgpu/device/address_space.h"

#include <algorithm>
#include <iterator>

namespace torchmem::vgpu {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

// What an event takes, in bytes (docs/facts/addresses.md).
struct Taken {
  std::array<uint64_t, 2> blocks;  // device memory for kernels, in this order
  uint64_t images;                 // address space for a library's own files, after that; no device memory
  uint64_t local_memory;           // what the context's local memory is then grown to; 0: not grown
};

constexpr std::array<Taken, AddressSpace::module_events> taken_by_event = {{
    {{0, 0}, 0, 510 * mib},               // device_assert
    {{10 * mib, 0}, 0, 0},                // dropout
    {{64 * mib, 0}, 0, 0},                // cublas_handle
    {{10 * mib, 0}, 0, 0},                // cublas_kernel
    {{2 * mib, 10 * mib}, 352 * mib, 0},  // convolution_plan
    {{0, 0}, 0, 538 * mib},               // convolution_kernel
    {{10 * mib, 0}, 160 * mib, 0},        // recurrent
}};

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

template <class Map>
auto containing(const Map& map, uint64_t address) {
  auto next = map.upper_bound(address);
  return next == map.begin() ? map.end() : std::prev(next);
}

}  // namespace

AddressSpace::AddressSpace(const Layout& layout)
    : AddressSpace(layout,
                   std::make_unique<ModelGaps>(layout.anchor - layout.span,
                                               layout.anchor + layout.granule + layout.context_range)) {}

AddressSpace::AddressSpace(const Layout& layout, std::unique_ptr<Gaps> gaps)
    : layout_(layout), gaps_(std::move(gaps)) {
  if (const uint64_t context = gaps_->take(layout.context_range, layout.range_unit)) {
    regions_[context] = {context + layout.context_range, layout.context};
    holes_[context + layout.context] = context + layout.context_range;
  }
  const uint64_t size = layout.local_memory + layout.granule;
  if (const uint64_t local = gaps_->take(size, layout.range_unit)) {
    regions_[local] = {local + size, layout.local_memory};
    holes_[local + layout.local_memory] = local + size;
    local_memory_ = {local, layout.local_memory};
  }
}

uint64_t AddressSpace::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > layout_.span) return 0;
  if (bytes < layout_.suballocated_below) return suballocate(bytes);
  const uint64_t occupied = round_up(bytes, layout_.granule);
  const uint64_t address = take_granules(occupied);
  if (address != 0) blocks_[address] = {bytes, occupied};
  return address;
}

bool AddressSpace::free(uint64_t address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return false;
  const uint64_t occupied = block->second.occupied;
  blocks_.erase(block);
  const uint64_t granule = address / layout_.granule * layout_.granule;
  const auto shared = shared_.find(granule);
  if (shared == shared_.end()) {
    give_granules(address, occupied);
    return true;
  }
  const auto space = add_space(shared->second, address, address + occupied);
  if (space->first == granule && space->second == granule + layout_.granule) {
    shared_.erase(shared);
    give_granules(granule, layout_.granule);
  }
  return true;
}

uint64_t AddressSpace::size_of(uint64_t address) const {
  if (const auto block = blocks_.find(address); block != blocks_.end()) return block->second.requested;
  const auto reservation = reservations_.find(address);
  return reservation == reservations_.end() ? 0 : reservation->second.requested;
}

bool AddressSpace::owns(uint64_t address) const {
  const auto region = containing(regions_, address);
  if (region != regions_.end() && address < region->second.end) return true;
  const auto reservation = containing(reservations_, address);
  return reservation != reservations_.end() && address - reservation->first < reservation->second.occupied;
}

std::optional<AddressSpace::Range> AddressSpace::find(uint64_t address) const {
  for (const auto* map : {&blocks_, &reservations_}) {
    const auto item = containing(*map, address);
    if (item != map->end() && address - item->first < item->second.requested) {
      return Range{item->first, item->second.requested};
    }
  }
  return std::nullopt;
}

void AddressSpace::reserve_modules(ModuleEvent event) {
  const auto index = static_cast<size_t>(event);
  if (loaded_[index]) return;
  loaded_[index] = true;
  const Taken& taken = taken_by_event[index];
  for (const uint64_t block : taken.blocks) {
    if (block != 0) take_granules(block);
  }
  if (taken.images != 0) gaps_->take(taken.images, layout_.range_unit);
  set_local_memory(taken.local_memory);
}

uint64_t AddressSpace::reserve(uint64_t bytes, uint64_t alignment) {
  if (bytes == 0 || bytes > layout_.span) return 0;
  const uint64_t occupied = round_up(bytes, layout_.granule);
  const uint64_t address = gaps_->take(occupied, std::max(alignment, layout_.granule));
  if (address != 0) reservations_[address] = {bytes, occupied};
  return address;
}

bool AddressSpace::release(uint64_t address) {
  const auto reservation = reservations_.find(address);
  if (reservation == reservations_.end()) return false;
  gaps_->give(address, reservation->second.occupied);
  reservations_.erase(reservation);
  return true;
}

uint64_t AddressSpace::take_granules(uint64_t bytes) {
  uint64_t address = lowest_fit(holes_, bytes);
  if (address == 0) {
    const uint64_t size = round_up(bytes, layout_.range_unit);
    address = gaps_->take(size, layout_.range_unit);
    if (address == 0) return 0;
    regions_[address] = {address + size, 0};
    holes_[address] = address + size;
  }
  carve(holes_, address, bytes);
  std::prev(regions_.upper_bound(address))->second.used += bytes;
  return address;
}

void AddressSpace::give_granules(uint64_t address, uint64_t bytes) {
  const auto region = std::prev(regions_.upper_bound(address));
  region->second.used -= bytes;
  if (region->second.used != 0) {
    holes_[address] = address + bytes;
    auto hole = holes_.find(address);
    if (const auto next = std::next(hole);
        next != holes_.end() && next->first == hole->second && next->first != region->second.end) {
      hole->second = next->second;
      holes_.erase(next);
    }
    if (hole != holes_.begin() && address != region->first) {
      if (const auto before = std::prev(hole); before->second == address) {
        before->second = hole->second;
        holes_.erase(hole);
      }
    }
    return;
  }
  holes_.erase(holes_.lower_bound(region->first), holes_.lower_bound(region->second.end));
  gaps_->give(region->first, region->second.end - region->first);
  regions_.erase(region);
}

void AddressSpace::set_local_memory(uint64_t bytes) {
  if (bytes <= local_memory_.bytes || local_memory_.bytes == 0) return;
  const uint64_t address = take_granules(bytes);
  if (address == 0) return;
  give_granules(local_memory_.address, local_memory_.bytes);
  local_memory_ = {address, bytes};
}

uint64_t AddressSpace::suballocate(uint64_t bytes) {
  const uint64_t occupied = round_up(bytes, layout_.suballocation_unit);
  for (auto& [granule, spaces] : shared_) {
    const uint64_t address = lowest_fit(spaces, occupied);
    if (address == 0) continue;
    carve(spaces, address, occupied);
    blocks_[address] = {bytes, occupied};
    return address;
  }
  const uint64_t granule = take_granules(layout_.granule);
  if (granule == 0) return 0;
  shared_[granule][granule + occupied] = granule + layout_.granule;
  blocks_[granule] = {bytes, occupied};
  return granule;
}

uint64_t AddressSpace::lowest_fit(const Spaces& spaces, uint64_t bytes) {
  const auto space = std::find_if(spaces.begin(), spaces.end(), [bytes](const auto& candidate) {
    return candidate.second - candidate.first >= bytes;
  });
  return space == spaces.end() ? 0 : space->first;
}

void AddressSpace::carve(Spaces& spaces, uint64_t address, uint64_t bytes) {
  const auto space = std::prev(spaces.upper_bound(address));
  const uint64_t end = space->second;
  if (space->first == address) {
    spaces.erase(space);
  } else {
    space->second = address;
  }
  if (address + bytes != end) spaces[address + bytes] = end;
}

AddressSpace::Spaces::iterator AddressSpace::add_space(Spaces& spaces, uint64_t begin, uint64_t end) {
  auto space = spaces.emplace(begin, end).first;
  if (const auto next = std::next(space); next != spaces.end() && next->first == end) {
    space->second = next->second;
    spaces.erase(next);
  }
  if (space != spaces.begin()) {
    if (const auto before = std::prev(space); before->second == begin) {
      before->second = space->second;
      spaces.erase(space);
      return before;
    }
  }
  return space;
}

}  // namespace torchmem::vgpu
