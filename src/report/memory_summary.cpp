#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>

#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr int width = 75;

// A number in the unit that suits `scale_by`: units change at 768 x 1024, and the number is cut, not rounded.
std::string size_cell(int64_t size, int64_t scale_by) {
  constexpr const char* units[] = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  auto scale = static_cast<double>(scale_by);
  while (unit + 1 < std::size(units) && scale >= 768.0 * 1024) {
    ++unit;
    size = size >= 0 ? size / 1024 : -((-size + 1023) / 1024);
    scale /= 1024;
  }
  return fmt::format("{:6} {}", size, units[unit]);
}

std::string count_cell(int64_t count, int64_t scale_by) {
  constexpr const char* units[] = {" ", "K", "M"};
  size_t unit = 0;
  auto scale = static_cast<double>(scale_by);
  while (unit + 1 < std::size(units) && scale >= 750.0 * 1000) {
    ++unit;
    count = count >= 0 ? count / 1000 : -((-count + 999) / 1000);
    scale /= 1000;
  }
  return fmt::format("{:7} {} ", count, units[unit]);
}

using Cell = std::string (*)(int64_t, int64_t);

struct Row {
  const char* key;
  const char* name;
  Cell cell;
};

constexpr Row pool_rows[] = {
    {"allocated_bytes", "Allocated memory", size_cell},
    {"active_bytes", "Active memory", size_cell},
    {"requested_bytes", "Requested memory", size_cell},
    {"reserved_bytes", "GPU reserved memory", size_cell},
    {"inactive_split_bytes", "Non-releasable memory", size_cell},
    {"allocation", "Allocations", count_cell},
    {"active", "Active allocs", count_cell},
    {"segment", "GPU reserved segments", count_cell},
    {"inactive_split", "Non-releasable allocs", count_cell},
};

constexpr Row single_rows[] = {
    {"oversize_allocations", "Oversize allocations", count_cell},
    {"oversize_segments", "Oversize GPU segments", count_cell},
};

constexpr std::pair<const char*, const char*> pools[] = {
    {"all", nullptr}, {"large_pool", "      from large pool"}, {"small_pool", "      from small pool"}};

constexpr const char* columns[] = {"current", "peak", "allocated", "freed"};

int64_t statistic(const json& statistics, const std::string& key) {
  if (auto flat = statistics.find(key); flat != statistics.end()) return flat->get<int64_t>();
  const json* at = &statistics;
  for (size_t start = 0; start <= key.size();) {
    size_t end = std::min(key.find('.', start), key.size());
    auto inner = at->is_object() ? at->find(key.substr(start, end - start)) : at->end();
    if (!at->is_object() || inner == at->end()) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("the statistics have no '{}': expected those of torch.cuda.memory_stats", key));
    }
    at = &*inner;
    start = end + 1;
  }
  return at->get<int64_t>();
}

std::string row_text(const json& statistics, const std::string& prefix, const char* name, Cell cell,
                     const int64_t* scales) {
  std::string line = fmt::format(" {:21}", name);
  for (size_t i = 0; i < std::size(columns); ++i) {
    line += " | " + cell(statistic(statistics, prefix + columns[i]), scales[i]);
  }
  return line + " ";
}

void read_scales(const json& statistics, const std::string& prefix, int64_t* scales) {
  for (size_t i = 0; i < std::size(columns); ++i) scales[i] = statistic(statistics, prefix + columns[i]);
}

// Takes the larger of every number that is called "peak" or ends in ".peak".
void raise_peaks(json& whole, const json& part) {
  for (auto& [name, value] : whole.items()) {
    auto other = part.find(name);
    if (other == part.end()) continue;
    if (value.is_object() && other->is_object()) {
      raise_peaks(value, *other);
    } else if ((name == "peak" || name.ends_with(".peak")) && value.is_number() && other->is_number()) {
      value = std::max(value.get<int64_t>(), other->get<int64_t>());
    }
  }
}

}  // namespace

std::string memory_summary(const json& statistics, int device, bool abbreviated) {
  const std::string double_line(width, '=');
  const std::string line(width, '-');
  std::vector<std::string> lines;
  lines.push_back(double_line);
  lines.push_back(fmt::format("{:18}PyTorch CUDA memory summary, device ID {:<17} ", "", device));
  lines.push_back(line);
  lines.push_back(fmt::format("{:12}CUDA OOMs: {:<12} | {:6} cudaMalloc retries: {:<8}  ", "",
                              statistic(statistics, "num_ooms"), "",
                              statistic(statistics, "num_alloc_retries")));
  lines.push_back(double_line);
  lines.push_back("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
  int64_t scales[std::size(columns)];
  for (const Row& row : pool_rows) {
    lines.push_back(line);
    for (const auto& [pool, name] : pools) {
      if (name && abbreviated) continue;
      std::string prefix = fmt::format("{}.{}.", row.key, pool);
      if (!name) read_scales(statistics, prefix, scales);
      lines.push_back(row_text(statistics, prefix, name ? name : row.name, row.cell, scales));
    }
  }
  for (const Row& row : single_rows) {
    lines.push_back(line);
    std::string prefix = fmt::format("{}.", row.key);
    read_scales(statistics, prefix, scales);
    lines.push_back(row_text(statistics, prefix, row.name, row.cell, scales));
  }
  lines.push_back(double_line);
  std::string text;
  for (const std::string& content : lines) text += fmt::format("|{}|\n", content);
  return text;
}

std::string memory_summary(const Run& run) {
  json statistics;
  for (const Phase& phase : run.phases) {
    if (!phase.statistics.is_object()) continue;
    json latest = phase.statistics;
    if (statistics.is_object()) raise_peaks(latest, statistics);
    statistics = std::move(latest);
  }
  if (!statistics.is_object()) {
    throw Error(ErrorKind::bad_input, "there is no summary: the run ended before its first phase did");
  }
  return memory_summary(statistics, run.main_device());
}

}  // namespace torchmem
