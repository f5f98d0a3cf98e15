#include "report/estimate_report.h"

#include <cstdio>

#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t name_width = 20;
constexpr size_t cell_width = 12;

// In GB as such tables are written, powers of 1000; small ones in MB.
std::string decimal(uint64_t bytes) {
  char text[32];
  double number = static_cast<double>(bytes);
  if (bytes == 0) return "-";
  if (bytes >= 100'000'000) {
    std::snprintf(text, sizeof text, "%.2f GB", number / 1e9);
  } else {
    std::snprintf(text, sizeof text, "%.2f MB", number / 1e6);
  }
  return text;
}

uint64_t count_of(const Estimate& estimate) {
  uint64_t elements = 0;
  for (const ParameterCount& count : estimate.parameters) elements += count.elements;
  return elements;
}

std::string row_text(const std::string& name, const EstimateRow& row) {
  return pad_right(shorten(name, name_width - 1), name_width) + pad_left(decimal(row.weights), cell_width) +
         pad_left(decimal(row.gradients), cell_width) + pad_left(decimal(row.optimizer_state), cell_width) +
         pad_left(decimal(row.master_weights), cell_width) + pad_left(decimal(row.total), cell_width) + "\n";
}

std::string what_text(const EstimateOptions& options) {
  if (!options.training) return "inference";
  std::string text = "training with " + options.optimizer;
  if (options.master) text += ", f32 master weights";
  if (options.shards > 1) text += ", over " + counted(options.shards, "device") + ", each one's part";
  return text;
}

}  // namespace

std::string estimate_text(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  std::string text = wrap(what_text(options) + " (GB and MB are powers of 1000)", 0) + "\n" +
                     pad_right("parameters", name_width);
  for (const char* column : {"weights", "gradients", "optimizer", "master", "total"})
    text += pad_left(column, cell_width);
  text += "\n";
  for (const Estimate& estimate : estimates) {
    std::string count = format_count(count_of(estimate));
    for (const EstimateRow& row : estimate.rows)
      text += row_text(row.stage == 0 ? count : "  ZeRO stage " + std::to_string(row.stage), row);
  }
  text += "\n";
  for (const Estimate& estimate : estimates) {
    text +=
        wrap("total of " + estimate.name + ": " + bytes_exactly(estimate.rows.front().total) +
                 (estimate.buffers > 0 ? ", buffers of " + format_bytes(estimate.buffers) + " among it" : ""),
             0);
  }
  return text +
         wrap(
             "Not in it: activations, temporaries, workspaces, the allocator's rounding, and the device's "
             "context. torchmem profile measures them.",
             0);
}

json estimate_json(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  json result = {{"schema", "torchmem.estimate/1"},
                 {"torchmem", TORCHMEM_VERSION},
                 {"mode", options.training ? "train" : "inference"},
                 {"master_weights", options.master},
                 {"shards", options.shards}};
  if (options.training) result["optimizer"] = options.optimizer;
  result["estimates"] = json::array();
  for (const Estimate& estimate : estimates) {
    json entry = {{"name", estimate.name}, {"buffers_bytes", estimate.buffers}};
    entry["parameters"] = json::array();
    for (const ParameterCount& count : estimate.parameters) {
      entry["parameters"].push_back(
          {{"dtype", count.dtype}, {"elements", count.elements}, {"trained", count.trained}});
    }
    entry["stages"] = json::array();
    for (const EstimateRow& row : estimate.rows) {
      entry["stages"].push_back({{"zero_stage", row.stage},
                                 {"weights_bytes", row.weights},
                                 {"gradients_bytes", row.gradients},
                                 {"optimizer_state_bytes", row.optimizer_state},
                                 {"master_weights_bytes", row.master_weights},
                                 {"total_bytes", row.total}});
    }
    result["estimates"].push_back(std::move(entry));
  }
  result["not_in_it"] = {"activations", "temporaries", "workspaces", "rounding", "context"};
  result["error"] = nullptr;
  return result;
}

}  // namespace torchmem
