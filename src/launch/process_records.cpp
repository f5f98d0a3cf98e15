#include "launch/process_records.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include "launch/engine_info.h"
#include "torchmem/allocator_state.h"
#include "torchmem/run_file.h"
#include "torchmem/stream.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view stream_prefix = "stream-";

}  // namespace

std::vector<ProcessRecord> read_process_records(const fs::path& directory,
                                                const std::vector<std::string>& program,
                                                const DeviceChoice& device) {
  std::vector<ProcessRecord> records;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(stream_prefix)) continue;
    ProcessRecord found;
    const char* digits = name.data() + stream_prefix.size();
    std::from_chars(digits, name.data() + name.size(), found.pid);
    try {
      found.run = read_stream_file(entry.path());
      complete_segments(found.run);
      complete_block_sizes(found.run);
    } catch (const Error& trouble) {
      std::cerr << "torchmem: the record of process " << found.pid << " is lost: " << trouble.what() << '\n';
      continue;
    }
    found.run.info.rest["program"] = program;
    add_device_info(found.run, device);
    records.push_back(std::move(found));
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return records;
}

}  // namespace torchmem
