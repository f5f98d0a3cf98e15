#include "capture/python_function.h"

namespace torchmem::capture {

// With the lock held.
PythonObject* PythonFunction::function() {
  constexpr int file_input = 257;  // Py_file_input
  if (function_ != nullptr || is_refused_) return function_;
  PythonObject* names = python().make_dictionary();
  PythonObject* result = names == nullptr ? nullptr : python().run(code_, file_input, names, names);
  if (result != nullptr) {
    python().release(result);
    function_ = python().item(names, name_);
  }
  python().clear_error();
  is_refused_ = function_ == nullptr;
  return function_;
}

void PythonFunction::ask_by(const std::function<PythonObject*(PythonObject*)>& call, const Use& use) {
  if (!runs_python()) return;
  const PythonLock lock;
  if (python().error() != nullptr || function() == nullptr) return;
  PythonObject* answer = call(function_);
  if (answer == nullptr) {
    // Ctrl-C may have come just then: it is the program's.
    python().clear_error();
    return;
  }
  if (const char* text = python().utf8(answer); text != nullptr) use(text);  // null of None
  python().clear_error();
  python().release(answer);
}

std::optional<std::string> PythonFunction::ask(std::uint64_t number) {
  std::optional<std::string> text;
  ask_by(
      [number](PythonObject* function) -> PythonObject* {
        PythonObject* frame = python().current_frame();
        if (frame == nullptr) return nullptr;
        return python().call(function, "OK", frame, static_cast<unsigned long long>(number));
      },
      [&](std::string_view answer) { text = answer; });
  return text;
}

void PythonFunction::ask(PythonObject* object, const Use& use) {
  ask_by([object](PythonObject* function) { return python().call(function, "O", object); }, use);
}

void PythonFunction::ask(const Use& use) {
  ask_by([](PythonObject* function) { return python().call(function, nullptr); }, use);
}

void PythonFunction::tell(std::uint64_t number) {
  ask_by(
      [number](PythonObject* function) {
        return python().call(function, "K", static_cast<unsigned long long>(number));
      },
      [](std::string_view) {});
}

}  // namespace torchmem::capture
