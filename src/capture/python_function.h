#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "capture/python_api.h"

namespace torchmem::capture {

/// A function of Python code of our own: it is given the frame that the calling thread is in and a number,
/// and answers with a text or None.
class PythonFunction {
 public:
  /// `code` defines `name`; both stay where they are.
  PythonFunction(const char* code, const char* name) : code_(code), name_(name) {}

  /// Nothing where it answers None, where no Python runs, or where Python is in trouble of its own.
  std::optional<std::string> ask(std::uint64_t number);

 private:
  PythonObject* function();

  const char* code_;
  const char* name_;
  PythonObject* function_ = nullptr;  // made at its first use, for good
  bool is_refused_ = false;
};

}  // namespace torchmem::capture
