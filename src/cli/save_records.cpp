#include "cli/save_records.h"

#include <filesystem>
#include <iostream>

#include "cli/output.h"
#include "torchmem/run_file.h"

namespace torchmem {

namespace fs = std::filesystem;

void save_process_records(const std::vector<ProcessRecord>& records, const std::string& path) {
  if (records.empty()) std::cerr << "torchmem: nothing was recorded, so " << path << " was not written\n";
  for (size_t i = 0; i < records.size(); ++i) {
    fs::path target = path;
    if (i > 0) {
      std::string extension = target.extension().string();
      target.replace_extension("." + std::to_string(records[i].pid) + extension);
    }
    write_output("--save", target.string(), write_run(records[i].run));
    if (records.size() > 1)
      std::cerr << "torchmem: process " << records[i].pid << " is in " << target.string() << '\n';
  }
}

}  // namespace torchmem
