#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "capture/python_api.h"

namespace torchmem::capture {

// A function of Python code of our own, which answers with a text or None. Nobody is asked where no Python
// runs, or where Python is in trouble of its own; an error in the function is no answer.
class PythonFunction {
 public:
  // `code` defines `name`; both stay where they are.
  PythonFunction(const char* code, const char* name) : code_(code), name_(name) {}

  // Given the frame that the calling thread is in, and a number. Nothing where it answers None.
  std::optional<std::string> ask(std::uint64_t number);

  // Given an object, or nothing. `use` gets a text while the interpreter's lock is held, so that what the
  // text speaks of is still there.
  using Use = std::function<void(std::string_view)>;
  void ask(PythonObject* object, const Use& use);
  void ask(const Use& use);
  // Given a number.
  void tell(std::uint64_t number);

 private:
  PythonObject* function();
  // `call` calls the function, and answers with what came of it: a new reference.
  void ask_by(const std::function<PythonObject*(PythonObject*)>& call, const Use& use);

  const char* code_;
  const char* name_;
  PythonObject* function_ = nullptr;  // made at its first use, for good
  bool is_refused_ = false;
};

}  // namespace torchmem::capture
