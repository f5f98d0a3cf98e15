#include "engine/snapshots.h"

#include <torch/csrc/cuda/memory_snapshot.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/failure.h"

namespace torchmem::engine {

Snapshots::Snapshots(std::string directory) : directory_(std::move(directory)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    throw Failure(FailureKind::bad_usage,
                  "Cannot make the directory for snapshots " + directory_ + ": " + error.message() + ".");
  }
  torch::cuda::_record_memory_history("all", "all", "python", SIZE_MAX);
}

void Snapshots::write(const std::string& phase, std::optional<int> iteration) {
  char number[16];
  std::snprintf(number, sizeof number, "%03d-", count_++);
  std::string name = number;
  if (iteration) name += std::to_string(*iteration) + "-";
  const auto target = std::filesystem::path(directory_) / (name + phase + ".pickle");
  const auto partial = std::filesystem::path(target.string() + ".partial");
  const std::string pickle = torch::cuda::_memory_snapshot_pickled();
  std::ofstream out(partial, std::ios::binary);
  out.write(pickle.data(), static_cast<std::streamsize>(pickle.size()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(partial, target, error);
  if (!out || error) {
    const std::string reason = error ? error.message() : std::strerror(errno);
    std::filesystem::remove(partial, error);
    throw Failure(FailureKind::bad_usage,
                  "Cannot write the snapshot " + target.string() + ": " + reason + ".");
  }
}

}  // namespace torchmem::engine
