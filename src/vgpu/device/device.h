#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "address_space.h"
#include "contents.h"
#include "core.h"
#include "mutex.h"
#include "pending.h"
#include "profile.h"

namespace torchmem::vgpu {

// Physical memory made by cuMemCreate: given back when it is released and mapped nowhere.
struct Physical {
  int device = 0;
  size_t bytes = 0;
  int mappings = 0;
  bool released = false;
  bool imported = false;  // another process's: it takes none of the device's memory
};

struct Mapping {
  size_t bytes = 0;
  uint64_t physical = 0;
};

// One virtual device.
struct Device {
  std::optional<AddressSpace> addresses;  // from the moment a context exists
  bool active = false;                    // a context exists
  bool library_loaded = false;
  uint64_t used_bytes = 0;                       // by cudaMalloc and cuMemCreate, in whole granules
  uint64_t context_bytes = 0;                    // by the context and what was loaded
  std::unordered_map<uint64_t, size_t> outside;  // cudaMalloc's blocks that PyTorch's allocator did not claim
  uint64_t outside_bytes = 0;
  std::map<int, size_t> limits;  // as set by the program
};

// Everything that this process knows of its devices. One object, made at first use and never destroyed;
// `mutex` guards all of it but the profile, which is constant.
struct State {
  State();

  const Profile* profile = nullptr;
  Mutex mutex;
  std::vector<std::unique_ptr<Device>> devices;
  Contents contents;
  Pending pending;  // not guarded: see what it says of `mutex`
  HostFile large_values;
  std::map<uint64_t, int> reservations;    // address -> device
  std::map<uint64_t, Mapping> mappings;    // by address
  std::map<uint64_t, Physical> physicals;  // by handle
  uint64_t next_physical = 1;
  std::unordered_map<uint64_t, uint64_t> identities;  // by base address
  uint64_t next_identity = 1;
  std::map<uint64_t, size_t> host;        // pinned or registered host memory, by address
  std::map<uint64_t, size_t> registered;  // the part of it that the program registered
  uint64_t pinned_bytes = 0;              // of both
};

State& state();
// The device with that number, null when there is none.
Device* device_at(State& all, int device);
// The device whose address space holds `address`, -1 when none does.
int device_of(const State& all, uint64_t address);

// Takes `bytes` (whole granules) off the device's free memory; false when there is not enough. The mutex is
// held.
bool take(State& all, Device& device, uint64_t bytes);

// Called at every allocation: joins the agent at the first of PyTorch's allocator.
void join_agent();

}  // namespace torchmem::vgpu
