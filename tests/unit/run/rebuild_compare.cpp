// rebuild_compare RUN DIR: compares, for each phase of the run file, the segments rebuilt from its trace with
// the snapshot that the real allocator gave then (`profile --save RUN --snapshots DIR`). Prints what differs;
// 0 when nothing.

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "torchmem/allocator_state.h"
#include "torchmem/run_file.h"

namespace torchmem {
namespace {

bool same(const Block& a, const Block& b) {
  return a.address == b.address && a.size == b.size && a.state == b.state &&
         a.requested_size == b.requested_size;
}

bool same(const Segment& a, const Segment& b) {
  return a.address == b.address && a.total_size == b.total_size && a.allocated_size == b.allocated_size &&
         a.active_size == b.active_size && a.requested_size == b.requested_size && a.stream == b.stream &&
         a.is_large == b.is_large && a.is_expandable == b.is_expandable &&
         std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                    [](const Block& x, const Block& y) { return same(x, y); });
}

void print(const char* name, const Segment& segment) {
  std::cout << "  " << name << ": " << segment.address << " " << segment.total_size << " allocated "
            << segment.allocated_size << " requested " << segment.requested_size << " large "
            << segment.is_large << "\n";
  for (const Block& block : segment.blocks) {
    std::cout << "    " << block.address << " " << block.size << " " << block.requested_size << " "
              << name_of(block.state) << "\n";
  }
}

int compare(const char* run_file, const char* directory) {
  Run run = read_run_file(run_file);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.size() != run.phases.size() || files.empty()) {
    std::cout << files.size() << " snapshots, " << run.phases.size() << " phases\n";
    return 1;
  }
  int differing = 0;
  size_t blocks = 0;
  int32_t device = run.main_device();
  for (size_t i = 0; i < files.size(); ++i) {
    std::vector<Segment> real = read_run_file(files[i]).segments;
    std::sort(real.begin(), real.end(),
              [](const Segment& a, const Segment& b) { return a.address < b.address; });
    std::vector<Segment> rebuilt =
        state_after(run, device, run.phases[i].events.at(static_cast<size_t>(device))).segments();
    for (const Segment& segment : real) blocks += segment.blocks.size();
    for (size_t j = 0; j < std::max(real.size(), rebuilt.size()); ++j) {
      if (j < real.size() && j < rebuilt.size() && same(real[j], rebuilt[j])) continue;
      ++differing;
      std::cout << files[i].filename().string() << ", segment " << j << "\n";
      if (j < real.size()) print("real", real[j]);
      if (j < rebuilt.size()) print("rebuilt", rebuilt[j]);
    }
  }
  std::cout << files.size() << " phases, " << blocks << " blocks, " << differing << " segments differ\n";
  return differing == 0 ? 0 : 1;
}

}  // namespace
}  // namespace torchmem

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: rebuild_compare RUN DIR\n";
    return 2;
  }
  return torchmem::compare(argv[1], argv[2]);
}
