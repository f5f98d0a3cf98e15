#include "study/checkpoint_frontier.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace torchmem {

namespace {

constexpr size_t frontier_points = 6;     // between none and all modules
constexpr size_t most_blocks_alone = 32;  // that are checkpointed one by one, to find the best ones

Job checkpointed(const Job& base, const std::vector<std::string>& modules) {
  Job job = base;
  job.name = "checkpoint " + (modules.size() == 1 ? modules.front() : std::to_string(modules.size()));
  job.request.checkpoint = modules;
  return job;
}

double share_of(size_t part, size_t all) {
  return static_cast<double>(part) / static_cast<double>(std::max<size_t>(all, 1));
}

// How many blocks each point has.
std::set<size_t> counts_of(size_t blocks) {
  std::set<size_t> counts = {1, blocks};
  for (size_t i = 1; i < frontier_points; ++i) {
    double count = static_cast<double>(blocks * i) / frontier_points;
    counts.insert(std::max<size_t>(1, static_cast<size_t>(std::lround(count))));
  }
  return counts;
}

}  // namespace

// The last block of a network saves next to nothing: it is made again while all others are there.
void order_blocks(std::vector<CheckpointModule>& blocks, std::optional<uint64_t> allocated, const Job& base,
                  RunExecutor& executor) {
  if (blocks.size() > most_blocks_alone || !allocated) return;
  std::vector<Job> jobs;
  for (const CheckpointModule& block : blocks) jobs.push_back(checkpointed(base, {block.path}));
  executor.run(jobs, [&](size_t index, const Run& run) {
    VariantResult trial = variant_result_of(jobs[index].name, run);
    if (trial.error || !trial.allocated) return;
    blocks[index].worth = (static_cast<double>(*allocated) - static_cast<double>(*trial.allocated)) /
                          static_cast<double>(std::max<size_t>(blocks[index].leaves, 1));
  });
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const CheckpointModule& a, const CheckpointModule& b) { return a.worth > b.worth; });
}

std::vector<FrontierPoint> run_frontier(const std::vector<CheckpointModule>& blocks, size_t leaves,
                                        const Job& base, RunExecutor& executor) {
  std::vector<FrontierPoint> frontier;
  std::vector<Job> jobs;
  for (size_t count : counts_of(blocks.size())) {
    FrontierPoint point;
    point.of = blocks.size();
    size_t twice = 0;
    for (size_t i = 0; i < count; ++i) {
      point.modules.push_back(blocks[i].path);
      twice += blocks[i].leaves;
    }
    point.share = share_of(twice, leaves);
    jobs.push_back(checkpointed(base, point.modules));
    frontier.push_back(std::move(point));
  }
  executor.run(jobs, [&](size_t index, const Run& run) {
    frontier[index].trial = variant_result_of(jobs[index].name, run);
  });
  return frontier;
}

}  // namespace torchmem
