#include "capture/decisions.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "capture/decides_py.h"
#include "capture/python_api.h"

namespace torchmem::capture {
namespace {

using Lines = std::map<std::string, std::string>;

/// Of the models of this process.
struct ModelLines {
  std::mutex mutex;
  std::vector<std::function<Lines()>> unread;
  std::optional<Lines> lines;
};

ModelLines& model_lines() {
  static auto* instance = new ModelLines;
  return *instance;
}

/// Nothing in a process without models.
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

/// The function of decides.py; null where Python refuses it. Made once, with the lock held.
PythonObject* deciding_function() {
  constexpr int kFileInput = 257;  // Py_file_input
  static PythonObject* function = [] {
    PythonObject* names = python().make_dictionary();
    PythonObject* result = names == nullptr ? nullptr : python().run(kDecidesPy, kFileInput, names, names);
    if (result == nullptr) {
      python().clear_error();
      return static_cast<PythonObject*>(nullptr);
    }
    python().release(result);
    return python().item(names, "decides");
  }();
  return function;
}

/// Nothing where the program's text does not tell.
std::optional<std::string> python_decides(bool is_integer) {
  if (!runs_python()) return std::nullopt;
  const PythonLock lock;
  if (python().error() != nullptr) return std::nullopt;
  PythonObject* frame = python().current_frame();
  PythonObject* function = frame == nullptr ? nullptr : deciding_function();
  if (function == nullptr) return std::nullopt;
  PythonObject* answer = python().call(function, "Oi", frame, is_integer ? 1 : 0);
  if (answer == nullptr) {
    // Ctrl-C may have come just then: it is the program's.
    python().clear_error();
    return std::nullopt;
  }
  const char* text = python().utf8(answer);  // null of None
  std::optional<std::string> decision;
  if (text != nullptr) decision = text;
  python().clear_error();
  python().release(answer);
  return decision;
}

}  // namespace

void on_lines_that_decide(std::function<Lines()> lines) {
  const std::lock_guard lock(model_lines().mutex);
  model_lines().unread.push_back(std::move(lines));
}

std::string what_it_decides(const values::Reading& reading, const CallSite& site) {
  std::optional<std::string> decision = model_decides(site.line);
  if (!decision) decision = python_decides(c10::isIntegralType(reading.dtype, /*includeBool=*/true));
  if (decision && !decision->empty()) return *decision;
  return reading.is_truth ? "branch" : "";
}

}  // namespace torchmem::capture
