#pragma once

#include <optional>
#include <string>

namespace torchmem::engine {

// Writes plain PyTorch snapshots, one a phase, into a directory: NNN-ITERATION-PHASE.pickle
// ("003-1-backward.pickle"), "000-load.pickle" for the load. NNN counts the phases from 0. Each file is
// written beside its name and renamed.
class Snapshots {
 public:
  // Starts PyTorch's own recording. Throws Failure (bad_usage) if the directory cannot be made.
  explicit Snapshots(std::string directory);
  // Throws Failure (bad_usage) if the file cannot be written.
  void write(const std::string& phase, std::optional<int> iteration);

 private:
  std::string directory_;
  int count_ = 0;
};

}  // namespace torchmem::engine
