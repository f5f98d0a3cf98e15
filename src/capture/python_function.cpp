#include "capture/python_function.h"

namespace torchmem::capture {

/// With the lock held.
PythonObject* PythonFunction::function() {
  constexpr int kFileInput = 257;  // Py_file_input
  if (function_ != nullptr || is_refused_) return function_;
  PythonObject* names = python().make_dictionary();
  PythonObject* result = names == nullptr ? nullptr : python().run(code_, kFileInput, names, names);
  if (result != nullptr) {
    python().release(result);
    function_ = python().item(names, name_);
  }
  python().clear_error();
  is_refused_ = function_ == nullptr;
  return function_;
}

std::optional<std::string> PythonFunction::ask(std::uint64_t number) {
  if (!runs_python()) return std::nullopt;
  const PythonLock lock;
  if (python().error() != nullptr) return std::nullopt;
  PythonObject* frame = python().current_frame();
  if (frame == nullptr || function() == nullptr) return std::nullopt;
  PythonObject* answer = python().call(function_, "OK", frame, static_cast<unsigned long long>(number));
  if (answer == nullptr) {
    // Ctrl-C may have come just then: it is the program's.
    python().clear_error();
    return std::nullopt;
  }
  std::optional<std::string> text;
  if (const char* utf8 = python().utf8(answer); utf8 != nullptr) text = utf8;  // null of None
  python().clear_error();
  python().release(answer);
  return text;
}

}  // namespace torchmem::capture
