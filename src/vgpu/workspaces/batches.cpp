#include "vgpu/workspaces/batches.h"

#include <cmath>

#include "vgpu/workspaces/workspace_form.h"

namespace torchmem::vgpu {
namespace {

constexpr double least_agreement = 0.4;  // of all weight; chosen on batches that were left out

// The two recorded batches nearest to the problem's on one side of it, nearest first.
struct Side {
  void add(const ConvolutionFact& fact, double far) {
    if (!nearest || far < distance) {
      next = nearest;
      next_distance = distance;
      nearest = &fact;
      distance = far;
    } else if (!next || far < next_distance) {
      next = &fact;
      next_distance = far;
    }
  }

  double weight() const { return 1 / (0.1 + distance); }

  const ConvolutionFact* nearest = nullptr;
  const ConvolutionFact* next = nullptr;
  double distance = 0, next_distance = 0;  // factors between the batches, by their binary logarithms
};

class Votes {
 public:
  void add(uint64_t bytes, double weight) { all_[count_++] = {bytes, weight}; }

  // Where the line through two facts is at `batch`; no vote where that is below zero.
  void add_line(const ConvolutionFact& a, const ConvolutionFact& b, uint32_t batch, double weight) {
    double slope = (static_cast<double>(b.bytes) - static_cast<double>(a.bytes)) /
                   (static_cast<double>(b.problem.batch) - static_cast<double>(a.problem.batch));
    double bytes = static_cast<double>(a.bytes) +
                   slope * (static_cast<double>(batch) - static_cast<double>(a.problem.batch));
    if (bytes >= 0) add(static_cast<uint64_t>(std::llround(bytes)), weight);
  }

  std::optional<uint64_t> winner() const {
    std::optional<uint64_t> best;
    double most = 0, all = 0;
    for (int i = 0; i < count_; ++i) {
      double votes = 0;
      for (int j = 0; j < count_; ++j) {
        if (all_[j].bytes == all_[i].bytes)
          votes += all_[j].weight;
        else if (alike(all_[j].bytes, all_[i].bytes))
          votes += all_[j].weight / 2;
      }
      all += all_[i].weight;
      if (votes <= most) continue;
      most = votes;
      best = all_[i].bytes;
    }
    return most >= least_agreement * all ? best : std::nullopt;
  }

 private:
  struct Vote {
    uint64_t bytes;
    double weight;
  };
  Vote all_[5];  // two forms, three lines
  int count_ = 0;
};

}  // namespace

bool alike(uint64_t a, uint64_t b) {
  uint64_t more = a > b ? a : b, less = a > b ? b : a;
  return more - less <= more / 20 + 4096;
}

std::optional<uint64_t> estimate_from_batches(const Facts& facts, const ConvolutionProblem& problem,
                                              bool (*usable)(const ConvolutionFact&)) {
  Side below, above;
  for (const ConvolutionFact& fact : facts.geometry_of(problem)) {
    if (fact.problem.batch == problem.batch || (usable && !usable(fact))) continue;
    double factor = std::log2(static_cast<double>(fact.problem.batch) / problem.batch);
    (factor < 0 ? below : above).add(fact, std::abs(factor));
  }
  Votes votes;
  for (const Side* side : {&below, &above}) {
    if (!side->nearest) continue;
    const ConvolutionFact& fact = *side->nearest;
    votes.add(WorkspaceForm(fact.problem, fact.bytes).bytes_for(problem), side->weight());
    if (side->next) votes.add_line(fact, *side->next, problem.batch, side->weight());
  }
  if (below.nearest && above.nearest)
    votes.add_line(*below.nearest, *above.nearest, problem.batch, (below.weight() + above.weight()) / 2);
  return votes.winner();
}

}  // namespace torchmem::vgpu
