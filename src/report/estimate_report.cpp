#include "report/estimate_report.h"

#include <algorithm>
#include <cstdio>

#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t name_width = 20;
constexpr size_t cell_width = 12;

// In powers of 1000, as such tables are written.
struct Unit {
  const char* name;
  double bytes;
};

// Of a whole row: GB, or MB where GB would show too little of its least number.
Unit unit_of(const EstimateRow& row) {
  uint64_t least = row.total;
  for (uint64_t bytes : {row.weights, row.gradients, row.optimizer_state, row.master_weights}) {
    if (bytes > 0) least = std::min(least, bytes);
  }
  return least >= 100'000'000 ? Unit{"GB", 1e9} : Unit{"MB", 1e6};
}

std::string cell(uint64_t bytes, const Unit& unit) {
  if (bytes == 0) return pad_left("-", cell_width);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", static_cast<double>(bytes) / unit.bytes, unit.name);
  return pad_left(text, cell_width);
}

uint64_t count_of(const Estimate& estimate) {
  uint64_t elements = 0;
  for (const ParameterCount& count : estimate.parameters) elements += count.elements;
  return elements;
}

std::string row_text(const std::string& name, const EstimateRow& row) {
  Unit unit = unit_of(row);
  return pad_right(shorten(name, name_width - 1), name_width) + cell(row.weights, unit) +
         cell(row.gradients, unit) + cell(row.optimizer_state, unit) + cell(row.master_weights, unit) +
         cell(row.total, unit) + "\n";
}

std::string what_text(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  if (!options.training) return "inference";
  std::string text = "training with " + options.optimizer;
  bool has_master = std::any_of(estimates.begin(), estimates.end(), [](const Estimate& estimate) {
    return std::any_of(estimate.rows.begin(), estimate.rows.end(),
                       [](const EstimateRow& row) { return row.master_weights > 0; });
  });
  if (has_master) text += ", f32 master weights";
  if (options.master && !has_master) text += ", no master weights (the weights are f32 or larger as it is)";
  if (options.shards > 1) text += ", over " + counted(options.shards, "device") + ", each one's part";
  return text;
}

}  // namespace

std::string estimate_text(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  std::string text = wrap(what_text(estimates, options) + " (GB and MB are powers of 1000)", 0) + "\n" +
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
