#pragma once

#include <cstddef>
#include <cstdint>

namespace torchmem::capture {

/// The virtual GPU's own interface, found in the process by name; every pointer is null on a real device.
struct VirtualDevice {
  struct Observer {
    void* user;
    void (*value_assumed)(void* user, std::uint64_t address, std::size_t bytes);
    void (*workspace)(void* user, const char* library, const char* operation, const char* problem,
                      std::size_t bytes, int how);
    void (*unmodelled)(void* user, const char* library, const char* function);
  };

  void (*set_observer)(const Observer* observer) = nullptr;
  /// A kernel writes this device range: values that the host copied there are forgotten.
  void (*written)(std::uint64_t address, std::size_t bytes) = nullptr;
  /// The device profile as JSON text; returns the size it needs, the terminating zero included or not.
  int (*profile_json)(char* buffer, std::size_t size) = nullptr;

  bool present() const { return set_observer != nullptr; }
};

const VirtualDevice& virtual_device();

}  // namespace torchmem::capture
