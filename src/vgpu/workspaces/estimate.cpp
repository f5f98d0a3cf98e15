#include "vgpu/workspaces/estimate.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

uint64_t volume(const ConvolutionProblem& problem, const uint32_t (&sizes)[3]) {
  uint64_t product = 1;
  for (int i = 0; i < problem.dimensions; ++i) product *= sizes[i];
  return product;
}

// Bytes of the copies that cuDNN makes of a problem's tensors for kernels that want channels in units of 16
// bytes.
struct Copies {
  explicit Copies(const ConvolutionProblem& problem) {
    uint64_t element = data_type_bytes(problem.type);
    uint64_t unit = element ? 16 / element : 1;
    auto padded = [&](uint64_t channels) { return (channels + unit - 1) / unit * unit; };
    uint64_t output = 1;
    for (int i = 0; i < problem.dimensions; ++i) output *= problem.output(i);
    bytes[0] = problem.batch * padded(problem.channels) * volume(problem, problem.input) * element;
    bytes[1] = problem.batch * padded(problem.filters) * output * element;
    bytes[2] = problem.filters * padded(problem.channels / problem.groups) * volume(problem, problem.kernel) *
               element;
  }

  uint64_t of(unsigned parts) const {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 3; ++i)
      if (parts >> i & 1) sum += bytes[i];
    return sum;
  }

  uint64_t bytes[3];  // input, output, filters
};

double distance(const ConvolutionProblem& a, const ConvolutionProblem& b) {
  double sum = 0;
  auto logarithms = [&](double x, double y, double weight) {
    sum += weight * std::abs(std::log2((x + 1) / (y + 1)));
  };
  logarithms(a.batch, b.batch, 1);
  logarithms(a.channels, b.channels, 1);
  logarithms(a.filters, b.filters, 1);
  for (int i = 0; i < a.dimensions; ++i) {
    logarithms(a.output(i), b.output(i), 0.5);
    logarithms(a.kernel[i], b.kernel[i], 1.5);
    sum += 1.5 * (a.stride[i] != b.stride[i]) + 1.5 * (a.dilation[i] != b.dilation[i]);
  }
  sum += 2 * ((a.channels / a.groups % 8 == 0) != (b.channels / b.groups % 8 == 0));
  sum += 2 * ((a.filters / a.groups % 8 == 0) != (b.filters / b.groups % 8 == 0));
  return sum;
}

const ConvolutionFact* nearest(const Facts& facts, const ConvolutionProblem& problem) {
  const ConvolutionFact* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const ConvolutionFact& fact : facts.class_of(problem)) {
    if (memcmp(&fact.problem, &problem, sizeof problem) == 0) continue;
    double here = distance(fact.problem, problem);
    if (here < least) {
      least = here;
      best = &fact;
    }
  }
  return best;
}

}  // namespace

WorkspaceSize estimate_convolution(const Facts& facts, const ConvolutionProblem& problem) {
  const ConvolutionFact* fact = nearest(facts, problem);
  if (!fact) return {};
  if (fact->bytes == 0) return {0, Knowledge::kEstimated};
  Copies theirs(fact->problem);
  unsigned form = 0;  // the set of copies that leaves the least of the recorded size unexplained
  for (unsigned parts = 1; parts < 8; ++parts)
    if (theirs.of(parts) <= fact->bytes && theirs.of(parts) > theirs.of(form)) form = parts;
  return {Copies(problem).of(form) + fact->bytes - theirs.of(form), Knowledge::kEstimated};
}

WorkspaceSize convolution_workspace(const Facts& facts, const ConvolutionProblem& problem) {
  if (const ConvolutionFact* fact = facts.find(problem)) return {fact->bytes, Knowledge::kRecorded};
  return estimate_convolution(facts, problem);
}

}  // namespace torchmem::vgpu
