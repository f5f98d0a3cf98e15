// The fields of a scenario file's objects, read as what they must be. `place` is where an object stands in
// the file, "actions[2].do[0]"; every refusal is an Error(bad_input) that names the file and the place.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "torchmem/error.h"

namespace torchmem {

using FieldNames = std::set<std::string>;

// The place of an object's field.
std::string at(const std::string& place, const std::string& field);

// What was given, as a message shows it.
std::string in_quotes(const std::string& text);

// The names to choose from, in a message: not all of thousands.
std::string choice(const std::vector<std::string>& names);

// What another part says of `given`, with no more of it than is shown elsewhere.
std::string said_of(const std::string& given, const Error& error);

class ScenarioFields {
 public:
  using Variables = std::map<std::string, std::string>;

  // `path` and `given` must outlive this; `given` replaces the file's variables of the same names.
  ScenarioFields(const std::string& path, const Variables& given);

  std::string where(const std::string& place) const;
  [[noreturn]] void refuse(const std::string& place, const std::string& why) const;
  void check_fields(const nlohmann::json& object, const std::string& place, const FieldNames& known) const;

  // The document's "variables": what "{NAME}" in texts stands for.
  void read_variables(const nlohmann::json& document);
  void set(const std::string& name, const std::string& value);
  const Variables& variables() const { return variables_; }
  void restore(Variables variables) { variables_ = std::move(variables); }
  // "{NAME}" by the variable's value.
  std::string replaced(const std::string& text, const std::string& place) const;

  std::string text(const nlohmann::json& object, const std::string& place, const std::string& field) const;
  std::string text_or(const nlohmann::json& object, const std::string& place, const std::string& field,
                      const std::string& otherwise) const;
  // One text, or an array of them.
  std::vector<std::string> texts(const nlohmann::json& object, const std::string& place,
                                 const std::string& field) const;
  bool truth(const nlohmann::json& object, const std::string& place, const std::string& field) const;
  void only_true(const nlohmann::json& object, const std::string& place, const std::string& field) const;
  // A SIZE as text, or a whole number of bytes.
  uint64_t size(const nlohmann::json& object, const std::string& place, const std::string& field) const;
  // Of the value itself, which stands at `place`.
  int64_t whole(const nlohmann::json& value, const std::string& place, int64_t least) const;
  std::string one_of(const std::string& value, const std::string& place,
                     const std::vector<std::string>& names) const;

 private:
  const std::string& path_;
  const Variables& given_;
  Variables variables_;
};

}  // namespace torchmem
