#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "torchmem/run.h"

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
// next, unless that is a `remedy`, whose words depend on what was asked (a command line, a scenario) and are
// made there. `detail` is an object of further facts for machines.
class Failure : public std::runtime_error {
 public:
  Failure(FailureKind kind, const std::string& message, nlohmann::json detail = nlohmann::json::object(),
          Remedy remedy = Remedy::none)
      : std::runtime_error(message), kind_(kind), detail_(std::move(detail)), remedy_(remedy) {}
  FailureKind kind() const { return kind_; }
  const nlohmann::json& detail() const { return detail_; }
  Remedy remedy() const { return remedy_; }

 private:
  FailureKind kind_;
  nlohmann::json detail_;
  Remedy remedy_;
};

}  // namespace torchmem::engine
