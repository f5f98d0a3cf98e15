#include "report/estimate_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report/document.h"
#include "report/table.h"
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

TableCell cell(uint64_t bytes, const Unit& unit) {
  if (bytes == 0) return number_cell("-");
  return number_cell(fmt::format("{:.2f} {}", static_cast<double>(bytes) / unit.bytes, unit.name));
}

uint64_t count_of(const Estimate& estimate) {
  uint64_t elements = 0;
  for (const ParameterCount& count : estimate.parameters) elements += count.elements;
  return elements;
}

constexpr struct {
  const char* title;
  uint64_t EstimateRow::*bytes;
} statistics[] = {{"weights", &EstimateRow::weights},
                  {"gradients", &EstimateRow::gradients},
                  {"optimizer", &EstimateRow::optimizer_state},
                  {"master", &EstimateRow::master_weights},
                  {"total", &EstimateRow::total}};

Table estimate_table(const std::vector<Estimate>& estimates) {
  std::vector<TableColumn> columns = {
      {.title = "parameters", .kind = TableColumn::Kind::name, .width = name_width}};
  for (const auto& statistic : statistics) columns.push_back({.title = statistic.title, .width = cell_width});
  Table table(std::move(columns));
  for (const Estimate& estimate : estimates) {
    const std::string count = format_count(count_of(estimate));
    for (const EstimateRow& row : estimate.rows) {
      TableRow& added = table.add({row.stage == 0 ? count : "  ZeRO stage " + std::to_string(row.stage)});
      for (const auto& statistic : statistics)
        added.cells.push_back(cell(row.*statistic.bytes, unit_of(row)));
    }
  }
  return table;
}

std::string what_text(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  if (!options.training) return "inference";
  std::string text = "training with " + options.optimizer;
  bool has_master = std::any_of(estimates.begin(), estimates.end(), [](const Estimate& estimate) {
    return std::any_of(estimate.rows.begin(), estimate.rows.end(),
                       [](const EstimateRow& row) { return row.master_weights > 0; });
  });
  if (has_master) text += ", f32 master weights";
  if (options.master && !has_master) text += ", no master weights (the weights are f32 or larger anyway)";
  if (options.shards > 1) text += ", over " + counted(options.shards, "device") + ", each one's part";
  return text;
}

std::string about_text(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  return what_text(estimates, options) + " (GB and MB are powers of 1000)";
}

std::string total_text(const Estimate& estimate) {
  return "total of " + estimate.name + ": " + bytes_exactly(estimate.rows.front().total) +
         (estimate.buffers > 0 ? ", buffers of " + format_bytes(estimate.buffers) + " among it" : "");
}

constexpr const char* not_in_it =
    "Not in it: activations, temporaries, workspaces, the allocator's rounding, and the device's context. "
    "torchmem profile measures them.";

Document estimate_document(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  Document document("What the parameters cost");
  document.add_text(about_text(estimates, options));
  document.add_table(estimate_table(estimates));
  for (const Estimate& estimate : estimates) document.add_text(total_text(estimate));
  document.add_text(not_in_it);
  return document;
}

}  // namespace

std::string estimate_text(const std::vector<Estimate>& estimates, const EstimateOptions& options,
                          const TextStyle& style) {
  std::string text =
      wrap(about_text(estimates, options), 0, style) + "\n" + estimate_table(estimates).text(style) + "\n";
  for (const Estimate& estimate : estimates) text += wrap(total_text(estimate), 0, style);
  return text + wrap(not_in_it, 0, style);
}

std::string estimate_markdown(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  return estimate_document(estimates, options).markdown();
}

std::string estimate_html(const std::vector<Estimate>& estimates, const EstimateOptions& options) {
  return estimate_document(estimates, options).html();
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
