// The one exception of the core: what kind of trouble, and a text for people that says what was being done,
// what was given, what was expected and what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace torchmem {

enum class ErrorKind {
  bad_usage,                  // the command line
  bad_input,                  // an input, a settings text, a run file
  bad_model,                  // the model file
  model_failed,               // the model ran and threw
  out_of_memory,              // the device's or a limit's memory did not suffice
  assumed_reads,              // ended after as many reads of assumed values as were allowed
  decided_by_assumed_values,  // a size, a loop or a branch came of one, so that there is no answer
  unavailable,                // this machine or build cannot do it
  interrupted,                // someone stopped it
  internal,                   // ours
};

// The name used in streams, run files and JSON, e.g. "bad_model".
std::string_view name_of(ErrorKind kind);
// The kind of that name; `internal` for a name that is not known (a newer engine's).
ErrorKind error_kind_from(std::string_view name);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace torchmem
