#include "capture/decisions.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "capture/decides_py.h"
#include "capture/python_function.h"

namespace torchmem::capture {
namespace {

using Lines = std::map<std::string, std::string>;

// Of the models of this process.
struct ModelLines {
  std::mutex mutex;
  std::vector<std::function<Lines()>> unread;
  std::optional<Lines> lines;
};

ModelLines& model_lines() {
  static auto* instance = new ModelLines;
  return *instance;
}

// Nothing in a process without models.
std::optional<std::string> model_decides(const std::string& line) {
  auto& models = model_lines();
  const std::lock_guard lock(models.mutex);
  for (const auto& lines : models.unread) {
    if (!models.lines) models.lines.emplace();
    models.lines->merge(lines());
  }
  models.unread.clear();
  if (!models.lines) return std::nullopt;
  const auto found = models.lines->find(line);
  return found == models.lines->end() ? "" : found->second;
}

}  // namespace

void on_lines_that_decide(std::function<Lines()> lines) {
  const std::lock_guard lock(model_lines().mutex);
  model_lines().unread.push_back(std::move(lines));
}

std::string what_it_decides(const values::Reading& reading, const CallSite& site) {
  std::optional<std::string> decision = model_decides(site.line);
  static PythonFunction decides(decides_py, "decides");
  if (!decision) decision = decides.ask(c10::isIntegralType(reading.dtype, /*includeBool=*/true) ? 1 : 0);
  if (decision && !decision->empty()) return *decision;
  return reading.is_truth ? "branch" : "";
}

}  // namespace torchmem::capture
