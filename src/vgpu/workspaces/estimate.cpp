#include "vgpu/workspaces/estimate.h"

#include <cmath>
#include <cstring>

#include "vgpu/workspaces/batches.h"
#include "vgpu/workspaces/workspace_form.h"

namespace torchmem::vgpu {
namespace {

constexpr int neighbours = 8;

// Binary logarithm of x >= 1, right to 0.0002; some ten thousand are taken for an estimate.
double log2_near(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffff) | (uint64_t{1023} << 52);
  double m;  // in [1, 2)
  memcpy(&m, &bits, sizeof m);
  return exponent - 2.49835315 + m * (4.02921139 + m * (-2.07833517 + m * (0.62603218 - m * 0.07844068)));
}

// What cuDNN's choice is taken to depend on, sizes by their logarithms. Weights and number of neighbours were
// chosen on random problems; docs/facts/cudnn.md says how well the result does on those of real models.
struct Sizes {
  explicit Sizes(const ConvolutionProblem& problem)
      : batch(log2_near(problem.batch + 1.0)),
        channels(log2_near(problem.channels / problem.groups + 1.0)),
        filters(log2_near(problem.filters / problem.groups + 1.0)),
        channels_by_8(problem.channels / problem.groups % 8 == 0),
        filters_by_8(problem.filters / problem.groups % 8 == 0) {}

  double distance(const Sizes& other) const {
    return 0.25 * std::abs(batch - other.batch) + std::abs(channels - other.channels) +
           std::abs(filters - other.filters) + 2 * (channels_by_8 != other.channels_by_8) +
           2 * (filters_by_8 != other.filters_by_8);
  }

  double batch, channels, filters;  // channels and filters of one group
  bool channels_by_8, filters_by_8;
};

struct Shape {
  explicit Shape(const ConvolutionProblem& problem) : problem(problem) {
    double outputs = problem.batch, elements = 1;
    bool plain_steps = true;
    for (int i = 0; i < problem.dimensions; ++i) {
      double here = problem.output(i);
      outputs *= here;
      plain_steps &= problem.stride[i] == 1 && problem.padding[i] == 0;
      elements *= problem.kernel[i];
      output[i] = log2_near(here + 1);
      kernel[i] = log2_near(problem.kernel[i] + 1.0);
    }
    rows = log2_near(outputs);
    depth = log2_near(elements * (problem.channels / problem.groups));
    plain = elements == 1 && plain_steps;
  }

  double distance(const Shape& other) const {
    double sum =
        0.5 * std::abs(rows - other.rows) + 0.5 * std::abs(depth - other.depth) + 4 * (plain != other.plain);
    for (int i = 0; i < problem.dimensions; ++i)
      sum += 0.5 * std::abs(output[i] - other.output[i]) + 1.5 * std::abs(kernel[i] - other.kernel[i]) +
             (problem.stride[i] != other.problem.stride[i]) +
             (problem.dilation[i] != other.problem.dilation[i]);
    return sum;
  }

  const ConvolutionProblem& problem;
  double output[3] = {}, kernel[3] = {};
  double rows, depth;  // of the matrix product that the convolution is
  bool plain;          // that product of the tensors as they are: kernel 1, stride 1, no padding
};

struct Neighbour {
  const ConvolutionFact* fact;
  double distance;
  uint64_t bytes;  // the problem's, if cuDNN chooses as for this neighbour
};

// The nearest facts of the problem's class, nearest first. Returns how many.
int find_neighbours(const Facts& facts, const ConvolutionProblem& problem,
                    bool (*usable)(const ConvolutionFact&), Neighbour (&nearest)[neighbours]) {
  Sizes sizes(problem);
  Shape shape(problem);
  int count = 0;
  auto too_far = [&](double distance) {
    return count == neighbours && distance >= nearest[count - 1].distance;
  };
  for (const ConvolutionFact& fact : facts.class_of(problem)) {
    if (memcmp(&fact.problem, &problem, sizeof problem) == 0 || (usable && !usable(fact))) continue;
    double distance = Sizes(fact.problem).distance(sizes);
    if (too_far(distance)) continue;
    distance += Shape(fact.problem).distance(shape);
    if (too_far(distance)) continue;
    int at = count < neighbours ? count++ : count - 1;
    for (; at > 0 && nearest[at - 1].distance > distance; --at) nearest[at] = nearest[at - 1];
    nearest[at] = {&fact, distance, 0};
  }
  return count;
}

double weight(double distance) { return 1 / ((0.3 + distance) * (0.3 + distance)); }

}  // namespace

// Of what other batches say, or else of the neighbours' sizes, the one that the nearest and most of them
// agree on.
WorkspaceSize estimate_convolution(const Facts& facts, const ConvolutionProblem& problem,
                                   bool (*usable)(const ConvolutionFact&)) {
  if (auto bytes = estimate_from_batches(facts, problem, usable)) return {*bytes, Knowledge::estimated};
  Neighbour nearest[neighbours];
  int count = find_neighbours(facts, problem, usable, nearest);
  if (count == 0) return {};
  for (int i = 0; i < count; ++i)
    nearest[i].bytes = WorkspaceForm(nearest[i].fact->problem, nearest[i].fact->bytes).bytes_for(problem);
  uint64_t best = 0;
  double most = 0;
  for (int i = 0; i < count; ++i) {
    double votes = 0;
    for (int j = 0; j < count; ++j)
      if (alike(nearest[i].bytes, nearest[j].bytes)) votes += weight(nearest[j].distance);
    if (votes > most) {
      most = votes;
      best = nearest[i].bytes;
    }
  }
  return {best, Knowledge::estimated};
}

WorkspaceSize convolution_workspace(const Facts& facts, const ConvolutionProblem& problem) {
  if (const ConvolutionFact* fact = facts.find(problem)) return {fact->bytes, Knowledge::recorded};
  return estimate_convolution(facts, problem);
}

}  // namespace torchmem::vgpu
