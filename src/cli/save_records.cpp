#include "cli/save_records.h"

#include <filesystem>
#include <iostream>

namespace torchmem {

namespace fs = std::filesystem;

void write_process_records(const std::vector<ProcessRecord>& records, const OutputPath& output,
                           const std::function<std::string(const Run&)>& content) {
  const auto& [option, path] = output;
  if (records.empty()) std::cerr << "torchmem: nothing was recorded, so " << path << " was not written\n";
  for (size_t i = 0; i < records.size(); ++i) {
    if (i > 0 && path == "-") {
      std::cerr << "torchmem: process " << records[i].pid << " is left out: give " << option << " a file\n";
      continue;
    }
    fs::path target = path;
    if (i > 0) {
      std::string extension = target.extension().string();
      target.replace_extension("." + std::to_string(records[i].pid) + extension);
    }
    write_output(option, target.string(), content(records[i].run));
    if (records.size() > 1 && path != "-")
      std::cerr << "torchmem: process " << records[i].pid << " is in " << target.string() << '\n';
  }
}

}  // namespace torchmem
