// The fields of a request, one row each: the option, the engine's request, a report's "arguments" and a
// baseline all come from it. A new field is a member of RunRequest and a row here.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "request/run_request.h"

namespace torchmem {

using FieldMember =
    std::variant<bool RunRequest::*, int RunRequest::*, std::string RunRequest::*,
                 std::vector<std::string> RunRequest::*, std::optional<std::string> RunRequest::*,
                 std::optional<uint64_t> RunRequest::*, Mode RunRequest::*, Recording RunRequest::*,
                 Arguments RunRequest::*, std::vector<Arguments> RunRequest::*,
                 std::optional<Sizes> RunRequest::*, std::optional<AssumedValues> RunRequest::*,
                 nlohmann::json RunRequest::*>;

// Of which commands' requests a field is a part.
enum class Scope {
  any,       // of all
  models,    // of those that open a model
  runs,      // of those that run one
  settings,  // of those that run anything: a model or a scenario
};

// When a field is in JSON although it is as without its option.
enum class Written { always, if_set, always_but_in_scenarios };

struct RequestField {
  const char* key;  // in JSON
  FieldMember member;
  Scope scope;
  bool is_told;  // in reports and baselines
  Written written;

  // The option that sets it; null: none of its own. Without `values` it is a flag.
  const char* flag = nullptr;
  const char* group = nullptr;
  const char* values = nullptr;
  std::string help = {};
  std::vector<std::string> choices = {};  // what its value must be one of; empty: anything
  // Where the option's text is not the value itself. Throws Error(bad_usage).
  void (*parse)(RunRequest& request, const std::string& text) = nullptr;
};

const std::vector<RequestField>& request_fields();

// The value of --limit. Throws Error(bad_usage), also where a unit was surely forgotten.
uint64_t limit_bytes_of(const std::string& text);

// Throws Error(bad_usage) that names the option where the value is none of the field's choices.
void check_choice(const RequestField& field, const std::string& value);

}  // namespace torchmem
