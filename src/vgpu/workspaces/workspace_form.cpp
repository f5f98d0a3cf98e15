#include "vgpu/workspaces/workspace_form.h"

#include <initializer_list>

#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

// Bytes of copies of a problem's tensors with channels padded to 16 bytes.
struct Copies {
  explicit Copies(const ConvolutionProblem& problem) {
    uint64_t element = data_type_bytes(problem.type);
    uint64_t unit = element ? 16 / element : 1;
    auto padded = [&](uint64_t channels) { return (channels + unit - 1) / unit * unit; };
    uint64_t input = 1, output = 1, kernel = 1;
    for (int i = 0; i < problem.dimensions; ++i) {
      input *= problem.input[i];
      output *= problem.output(i);
      kernel *= problem.kernel[i];
    }
    uint64_t filters = problem.filters * padded(problem.channels / problem.groups) * kernel;
    parts[0] = problem.batch * padded(problem.channels) * input * element;
    parts[1] = problem.batch * padded(problem.filters) * output * element;
    parts[2] = filters * element;
    partial = filters * 4;
    single = output == 1;
  }

  uint64_t of(unsigned copies) const {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 3; ++i)
      if (copies >> i & 1) sum += parts[i];
    return sum;
  }

  uint64_t parts[3];  // input, output, filters
  uint64_t partial;   // the filters in f32
  bool single;        // an output of one element a channel
};

constexpr unsigned input_bit = 1, output_bit = 2, all_bits = 7;
constexpr uint64_t usual_rests[] = {0,   16,  131, 144,
                                    147, 272, 400};  // seen beside whole copies and partial sums
constexpr uint64_t most_partials = 2048;
constexpr uint64_t growing_rest = uint64_t{32} << 20;  // scratch of the chip's size is smaller

}  // namespace

WorkspaceForm::WorkspaceForm(const ConvolutionProblem& problem, uint64_t bytes) {
  if (bytes == 0) return;
  Copies tensors(problem);
  for (unsigned copies = all_bits + 1; copies-- > 0;)
    for (uint64_t usual : usual_rests)
      if (tensors.of(copies) + usual == bytes) {
        copies_ = copies;
        rest_ = usual;
        return;
      }
  for (unsigned copies : {input_bit | output_bit, input_bit, output_bit, 0u, all_bits})
    for (uint64_t usual : usual_rests) {
      uint64_t least = tensors.of(copies) + usual;
      if (bytes <= least || (bytes - least) % tensors.partial != 0) continue;
      uint64_t count = (bytes - least) / tensors.partial;
      if (count > most_partials) continue;
      copies_ = copies;
      rest_ = usual;
      partials_ = count;
      partials_by_batch_ = copies == 0 && count == problem.batch;
      return;
    }
  for (unsigned copies = 1; copies <= all_bits; ++copies)
    if (tensors.of(copies) <= bytes && tensors.of(copies) > tensors.of(copies_)) copies_ = copies;
  rest_ = bytes - tensors.of(copies_);
  if (rest_ > growing_rest) {
    rest_share_ = static_cast<double>(rest_) / static_cast<double>(tensors.of(all_bits));
    rest_ = 0;
  }
}

uint64_t WorkspaceForm::bytes_for(const ConvolutionProblem& problem) const {
  Copies tensors(problem);
  uint64_t partials = partials_by_batch_ ? problem.batch : partials_;
  if (partials_by_batch_ && tensors.single) partials = 0;  // nothing to split
  return tensors.of(copies_) + partials * tensors.partial + rest_ +
         static_cast<uint64_t>(rest_share_ * static_cast<double>(tensors.of(all_bits)));
}

}  // namespace torchmem::vgpu
