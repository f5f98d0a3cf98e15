#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace torchmem::engine {

// Why the engine cannot go on, in the words of an X record's "kind".
enum class FailureKind {
  bad_model,
  bad_input,
  model_failed,
  out_of_memory,
  unavailable,
  bad_usage,
  assumed_reads,  // more than --max-assumed-reads allows
  internal
};

const char* word(FailureKind kind);

// The engine's exit code: 1 out of memory, 3 unavailable, 2 otherwise.
int exit_code(FailureKind kind);

// `what()` is the message for people: what was being done, what was given, what was expected, what to do
// next. `detail` is an object of further facts for machines.
class Failure : public std::runtime_error {
 public:
  Failure(FailureKind kind, const std::string& message, nlohmann::json detail = nlohmann::json::object())
      : std::runtime_error(message), kind_(kind), detail_(std::move(detail)) {}
  FailureKind kind() const { return kind_; }
  const nlohmann::json& detail() const { return detail_; }

 private:
  FailureKind kind_;
  nlohmann::json detail_;
};

}  // namespace torchmem::engine
