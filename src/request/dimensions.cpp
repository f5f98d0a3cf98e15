// Sizes for dimensions of inputs, set after the inputs were parsed: each tensor keeps the text that it was
// written as, so that a size is put into the text and the text is parsed again, with every check.
#include <algorithm>
#include <functional>

#include "request/spec.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

// Calls `visit` with every VALUE that is {"tensor": ...}, in order.
void each_tensor(json& value, const std::function<void(json&)>& visit) {
  if (value.is_object() && value.size() == 1 && value.contains("tensor") && value["tensor"].is_object()) {
    visit(value);
  } else if (value.is_structured()) {
    for (json& inner : value) each_tensor(inner, visit);
  }
}

// Positional inputs come before named ones.
void each_input(Arguments& inputs, const std::function<void(json&)>& visit) {
  for (json& value : inputs.positional) each_tensor(value, visit);
  for (auto& [name, value] : inputs.named) each_tensor(value, visit);
}

// The spec's text with each dimension that `replaced` gives a text for in its place.
std::string respell(const std::string& spec,
                    const std::function<std::string(size_t, std::string)>& replaced) {
  size_t start = spec.find(':') + 1;
  size_t end = std::min(spec.find(':', start), spec.size());
  std::string shape;
  size_t position = 0;
  for (size_t at = start; at <= end; ++position) {
    size_t next = std::min(spec.find('x', at), end);
    shape += (position > 0 ? "x" : "") + replaced(position, spec.substr(at, next - at));
    at = next + 1;
  }
  return spec.substr(0, start) + shape + spec.substr(end);
}

void replace_dimensions(json& value, const std::function<std::string(size_t, std::string)>& replaced) {
  std::string spec = value["tensor"].at("spec").get<std::string>();
  value = parse_spec(respell(spec, replaced), Dimensions::numbers_and_names).value;
}

}  // namespace

std::vector<std::string> unsized_dimensions(const Arguments& inputs) {
  std::vector<std::string> names;
  Arguments copy = inputs;
  each_input(copy, [&](json& value) {
    for (const json& dimension : value["tensor"]["shape"]) {
      if (!dimension.is_string()) continue;
      std::string name = dimension.get<std::string>();
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  });
  return names;
}

size_t set_dimension(Arguments& inputs, const std::string& name, uint64_t size) {
  size_t count = 0;
  each_input(inputs, [&](json& value) {
    const json& shape = value["tensor"]["shape"];
    auto found = std::count(shape.begin(), shape.end(), json(name));
    if (found == 0) return;
    count += static_cast<size_t>(found);
    replace_dimensions(
        value, [&](size_t, const std::string& text) { return text == name ? std::to_string(size) : text; });
  });
  return count;
}

uint64_t batch_of(const Arguments& inputs) {
  Arguments copy = inputs;
  uint64_t batch = 0;
  each_input(copy, [&](json& value) {
    const json& shape = value["tensor"]["shape"];
    if (batch == 0 && !shape.empty() && shape[0].is_number_integer()) batch = shape[0].get<uint64_t>();
  });
  return batch;
}

void set_batch(Arguments& inputs, uint64_t size) {
  if (set_dimension(inputs, "B", size) > 0) return;
  json batch;
  each_input(inputs, [&](json& value) {
    const json& shape = value["tensor"]["shape"];
    if (shape.empty()) return;
    if (batch.is_null()) batch = shape[0];
    if (shape[0] != batch) return;
    replace_dimensions(value, [&](size_t position, const std::string& text) {
      return position == 0 ? std::to_string(size) : text;
    });
  });
  if (batch.is_null()) {
    throw Error(ErrorKind::bad_usage,
                "no input has a first dimension that could be the batch; write it as B where it is, e.g. "
                "--input f32:Bx3x224x224");
  }
}

}  // namespace torchmem
