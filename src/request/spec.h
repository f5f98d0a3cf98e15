// An input of the model as written on the command line: [NAME=]DTYPE:DIMxDIM...[:FILL] or [NAME=]@file.pt.
//
//     f32:32x3x224x224      a float tensor of normal random numbers
//     ids=i64:8x256:below=50257      the argument `ids`: whole numbers from 0 to 50256
//     f32:scalar            a tensor without dimensions
//     f32:Bx3x224x224       where sizes vary: a dimension with a name (capital letters, digits, _)
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "request/arguments.h"

namespace torchmem {

struct Spec {
  std::string name;      // empty: positional
  nlohmann::json value;  // the engine's VALUE: {"tensor": {...}} or {"file": PATH}
};

// Whether a dimension may be a name, which stands in the engine's VALUE until it is given a size.
enum class Dimensions { numbers, numbers_and_names };

// Throws Error(bad_usage) saying which part is wrong and what is expected there.
Spec parse_spec(std::string_view text, Dimensions dimensions = Dimensions::numbers);

// The arguments of several. Throws also when a name is given twice.
Arguments parse_inputs(const std::vector<std::string>& specs, Dimensions dimensions = Dimensions::numbers);

// The same of a JSON file: an array is positional arguments, an object named ones; inside, a string is a
// SPEC,
// {"$string": S} a text, {"$tuple": [...]} a tuple, numbers, true, false and null themselves, arrays lists,
// objects dicts. Throws Error(bad_input) naming the place in the file.
Arguments read_inputs_file(const std::string& path, Dimensions dimensions = Dimensions::numbers);

// The names of dimensions that have no size yet, in the order in which they come.
std::vector<std::string> unsized_dimensions(const Arguments& inputs);

// Gives the dimension of that name its size in every tensor of the inputs; how many there were. Throws
// Error(bad_usage) when a tensor grows too large to be.
size_t set_dimension(Arguments& inputs, const std::string& name, uint64_t size);

// The first dimension of the first tensor among the inputs that has a size there; 0 when there is none.
uint64_t batch_of(const Arguments& inputs);

// Sets the batch: the dimension B where one is written so, else the first dimension of every tensor that
// starts with the same size as the first tensor does. Throws Error(bad_usage) when there is no such tensor.
void set_batch(Arguments& inputs, uint64_t size);

}  // namespace torchmem
