// An input of the model as written on the command line: [NAME=]DTYPE:DIMxDIM...[:FILL] or [NAME=]@file.pt.
//
//     f32:32x3x224x224      a float tensor of normal random numbers
//     ids=i64:8x256:below=50257      the argument `ids`: whole numbers from 0 to 50256
//     f32:scalar            a tensor without dimensions
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace torchmem::cli {

struct Spec {
  std::string name;      // empty: positional
  nlohmann::json value;  // the engine's VALUE: {"tensor": {...}} or {"file": PATH}
};

// Throws Error(bad_usage) saying which part is wrong and what is expected there.
Spec parse_spec(std::string_view text);

// {"positional": [VALUE...], "named": {NAME: VALUE}} of several. Throws also when a name is given twice.
nlohmann::json parse_inputs(const std::vector<std::string>& specs);

// The same of a JSON file: an array is positional arguments, an object named ones; inside, a string is a
// SPEC,
// {"$string": S} a text, {"$tuple": [...]} a tuple, numbers, true, false and null themselves, arrays lists,
// objects dicts. Throws Error(bad_input) naming the place in the file.
nlohmann::json read_inputs_file(const std::string& path);

}  // namespace torchmem::cli
