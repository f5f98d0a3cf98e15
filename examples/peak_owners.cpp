// Prints when the memory of a snapshot was at its peak, and whose it was then.
#include <torchmem/analysis.h>
#include <torchmem/bytes.h>
#include <torchmem/run_file.h>

#include <algorithm>
#include <iostream>

namespace {

constexpr size_t most_lines = 5;

void print_owners(const torchmem::Breakdown& peak) {
  std::cout << "categories\n";
  for (const torchmem::UsageEntry& share : peak.categories) {
    if (share.bytes > 0)
      std::cout << "  " << torchmem::format_bytes(share.bytes) << "  " << share.name << "\n";
  }
  std::cout << "lines\n";
  for (size_t i = 0; i < std::min(peak.lines.size(), most_lines); ++i) {
    const torchmem::UsageEntry& share = peak.lines[i];
    std::cout << "  " << torchmem::format_bytes(share.bytes) << "  "
              << (share.name.empty() ? "(unknown)" : share.name) << "\n";
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: peak_owners SNAPSHOT\n";
    return 2;
  }
  try {
    const torchmem::Run run = torchmem::read_run_file(arguments[1]);
    const torchmem::Analysis analysis(run, run.main_device());
    if (!analysis.at_peak()) {
      std::cerr << "there is no peak in " << arguments[1] << ": " << analysis.gap() << "\n";
      return 1;
    }
    const torchmem::Breakdown& peak = *analysis.at_peak();
    std::cout << "peak: " << peak.totals.allocated << " bytes after " << peak.point.events << " events\n";
    print_owners(peak);
  } catch (const torchmem::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
