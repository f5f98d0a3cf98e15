#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchmem::vgpu {

// A device profile: the numbers by which PyTorch's host code decides. Made from one JSON file
// ("torchmem.device/1"), whose property and limit names are CUDA's own. Sizes are bytes.
struct Profile {
  struct Kernel {
    std::map<std::string, long long> attributes;  // shared, registers, max_threads, ...
    std::map<std::string, int>
        occupancy;  // "block" or "block+dynamic shared bytes" -> blocks per multiprocessor
  };

  std::string text;  // the file as read
  std::string id;
  std::string name;
  uint64_t total_bytes = 0;
  uint64_t granularity_bytes = uint64_t{2} << 20;  // of what a cudaMalloc takes off the free memory
  uint64_t unusable_bytes = 0;                     // free memory that the driver does not give out
  uint64_t context_bytes = 0;                      // what a fresh context holds
  std::map<std::string, uint64_t> load_bytes;
  std::map<std::string, int> versions;
  std::map<std::string, std::vector<long long>> properties;
  std::map<int, int> attributes;
  std::map<int, uint64_t> limits;
  std::map<std::string, Kernel> kernels;
  int pci_domain = 0;
  int pci_bus = 0;
  int pci_device = 0;
  std::string driver_version;  // as NVML words it
  std::string cudnn_facts;

  long long property(const std::string& key) const;  // the first number of a property, 0 when absent
};

// Nothing when the text is no profile; `why` then says what is wrong.
std::optional<Profile> parse_profile(const std::string& text, std::string* why);

// The profile of this process: the file that TORCHMEM_VGPU_PROFILE names, else h200.json of this
// installation. Read once; null when there is none, after one line on stderr.
const Profile* process_profile();

}  // namespace torchmem::vgpu
