#include "report/run_result_text.h"

#include <algorithm>
#include <string_view>

#include "report/run_header.h"
#include "report/statistics.h"
#include "report/style.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

// Without what follows: advice that is the same for every run.
std::string first_sentence(const std::string& message) {
  size_t end = std::min(message.find('\n'), message.size());
  for (size_t stop = message.find(". "); stop < end; stop = message.find(". ", stop + 1)) {
    // "CUDA out of memory." alone says nothing that was not said.
    if (message.compare(0, stop, "CUDA out of memory") != 0) end = stop + 1;
  }
  return message.substr(0, end);
}

// ", torch 2.11.0, CUDA 13.0"
std::string software_text(const Run& run) {
  std::string text;
  if (const std::string& torch = run.info.software.torch; !torch.empty()) text += ", torch " + torch;
  if (const std::string& cuda = run.info.software.cuda; !cuda.empty()) text += ", CUDA " + cuda;
  return text;
}

}  // namespace

std::string model_and_software(const Run& run) { return printable(run.info.model.path) + software_text(run); }

std::string where_text(const Run& run) {
  std::string text = printable(run.info.model.path);
  if (std::string device = device_text(run); !device.empty()) text += (text.empty() ? "" : " on ") + device;
  return text + software_text(run);
}

std::string error_text(const Run& run) {
  if (!run.error) return "";
  const RunError& error = *run.error;
  std::string text = error.kind == ErrorKind::out_of_memory   ? "out of memory"
                     : error.kind == ErrorKind::assumed_reads ? "ended"
                                                              : "failed";
  if (error.kind == ErrorKind::interrupted) return error.message;
  if (error.phase) text += " in " + phase_name(*error.phase, error.iteration ? &*error.iteration : nullptr);
  return text + ": " + first_sentence(error.message);
}

json peak_summary_json(const RunResult& outcome) {
  if (!outcome.peak) return nullptr;
  const Peak& peak = *outcome.peak;
  json result = json::object();
  for (const Statistic<Peak>& statistic : peak_statistics) {
    if (auto value = statistic.get(peak)) result[statistic.key] = *value;
  }
  if (peak.phase) result["phase"] = *peak.phase;
  if (peak.iteration) result["iteration"] = *peak.iteration;
  if (outcome.categories) {
    json categories = json::object();
    for (size_t i = 0; i < category_count; ++i)
      categories[std::string(name_of(static_cast<Category>(i)))] = (*outcome.categories)[i];
    result["by_category"] = std::move(categories);
  }
  return result;
}

std::string signed_bytes(uint64_t from, uint64_t to) {
  if (to == from) return "0 B";
  return to > from ? "+" + format_bytes(to - from) : "-" + format_bytes(from - to);
}

}  // namespace torchmem
