#pragma once

#include <cstddef>
#include <cstdint>

namespace torchmem::values {

// The virtual GPU's own interface, found in the process by name; every pointer is null on a real device.
// Declared with the device, in vgpu/device/assumptions.h and values.h, which say what each does.
struct VirtualDevice {
  struct Gap {
    std::size_t offset;
    std::size_t bytes;
  };
  enum Assumption : int { not_assumed = 0, assumed_gaps = 1, assumed_all = 2 };
  struct Observer {
    void* user;
    int (*value_assumed)(void* user, std::uint64_t address, std::size_t bytes, void* to, const Gap* gaps,
                         std::size_t count);
    void (*workspace)(void* user, const char* library, const char* operation, const char* problem,
                      std::size_t bytes, int how);
    void (*unmodelled)(void* user, const char* library, const char* function);
    void (*launched)(void* user, void* work);
    void (*dropped)(void* user, void* work);
  };

  void (*set_observer)(const Observer* observer) = nullptr;
  // A kernel writes this device range: what was there is forgotten.
  void (*written)(std::uint64_t address, std::size_t bytes) = nullptr;
  int (*peek)(std::uint64_t address, std::size_t bytes, void* to) = nullptr;
  void (*poke)(std::uint64_t address, std::size_t bytes, const void* from, int state) = nullptr;
  void (*repeat)(std::uint64_t address, std::size_t bytes, const void* value, std::size_t unit,
                 int state) = nullptr;
  void (*stand_in)(std::uint64_t address, std::size_t bytes, const void* from) = nullptr;
  void (*keep_large)() = nullptr;
  std::size_t (*captures)() = nullptr;
  bool (*is_captured)(void* stream) = nullptr;
  bool (*capture_work)(void* stream, void* work) = nullptr;
  // The device profile as JSON text; returns the size it needs, the terminating zero included or not.
  int (*profile_json)(char* buffer, std::size_t size) = nullptr;
  // PyTorch's allocator holds this block of cudaMalloc's.
  void (*claimed)(std::uint64_t address) = nullptr;

  bool present() const { return set_observer != nullptr; }
};

const VirtualDevice& virtual_device();

}  // namespace torchmem::values
