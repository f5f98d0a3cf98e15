#pragma once

#include <c10/core/Device.h>

#include <vector>

#include "engine/model.h"
#include "request/run_request.h"

namespace torchmem::engine {

// Builds the arguments of one call on the device, in the order of the model's schema, from
// positional and named values; what neither names takes the schema's default. Floats are drawn by randn,
// integers below a bound by randint; a file is what torch.save wrote of a tensor. With dtype,
// floating inputs are made in it (one from a file is converted); with channels_last, every input of four
// dimensions is converted after it is made.
//
// Throws Failure (bad_input) naming the argument, what was given and what was expected, with the signature:
// too many or too few arguments, an unknown name, one given twice, a value of another type, a dictionary of
// another key type.
class InputBuilder {
 public:
  InputBuilder(const RunRequest& request, const Arguments& arguments, const Model& model, c10::Device device);
  std::vector<c10::IValue> build() const;
  // The arguments' names, in the order of `build`.
  std::vector<std::string> names() const;
  // The call as people write it, e.g. "forward(x=f32:2x64, mask=bool:2)".
  std::string call() const;

 private:
  struct Slot {
    c10::Argument argument;
    const nlohmann::json* value;  // null: the default
  };
  const RunRequest& request_;
  std::string signature_;
  c10::Device device_;
  std::vector<Slot> slots_;
};

// One tensor of a VALUE that is a tensor or a file. Throws Failure (bad_input).
at::Tensor make_input_tensor(const nlohmann::json& value, c10::Device device);

}  // namespace torchmem::engine
