#include "study/advise_study.h"

#include <algorithm>
#include <set>

#include "study/checkpoint_frontier.h"
#include "study/lever_runs.h"
#include "study/variants.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t best_levers = 4;  // whose pairs are run
constexpr size_t goal_sets = 60;   // tried at most

constexpr const char* activations[] = {"relu", "relu6", "hardtanh",  "leaky_relu",  "elu",
                                       "selu", "celu",  "sigmoid",   "tanh",        "silu",
                                       "gelu", "mish",  "hardswish", "hardsigmoid", "threshold"};

// What an inspection tells of the model.
struct ModelFacts {
  bool has_activations = false;
  std::vector<CheckpointModule> blocks;
  size_t leaves = 0;  // innermost modules that the forward calls
};

ModelFacts model_facts(const json& model) {
  ModelFacts facts;
  const json operators = model.value("operators", json::object());
  for (const char* name : activations)
    facts.has_activations |= operators.contains(std::string("aten::") + name);
  const json modules = model.value("called_modules", json::array());
  for (const json& module : modules) {
    facts.leaves += module.value("leaf", false);
    if (!module.value("auto", false)) continue;
    CheckpointModule block{module.value("path", ""), 0};
    for (const json& inner : modules) {
      if (inner.value("leaf", false) && inner.value("path", "").starts_with(block.path + ".")) ++block.leaves;
    }
    facts.blocks.push_back(std::move(block));
  }
  return facts;
}

bool is_unmeasured(const VariantResult& trial) {
  return trial.error ? trial.error->kind == ErrorKind::interrupted : !trial.allocated;
}

// What an interruption left without a number.
void drop_unmeasured(Advice& advice) {
  std::erase_if(advice.levers,
                [](const LeverResult& lever) { return lever.why_not.empty() && is_unmeasured(lever.trial); });
  std::erase_if(advice.combinations, is_unmeasured);
  std::erase_if(advice.frontier, [](const FrontierPoint& point) { return is_unmeasured(point.trial); });
  if (advice.goal && !advice.goal->cheapest) advice.goal.reset();
}

class AdviseStudy {
 public:
  AdviseStudy(const Job& base, Advice& advice, RunExecutor& executor)
      : base_(base), advice_(advice), executor_(executor), runs_(base, executor) {}

  // All but the goal, as far as no interruption comes.
  void run() {
    for (auto stage : {&AdviseStudy::learn_model, &AdviseStudy::run_levers, &AdviseStudy::check_rewrites,
                       &AdviseStudy::run_combinations, &AdviseStudy::run_checkpoints}) {
      if (!executor_.interrupted()) (this->*stage)();
      rank(advice_);
    }
  }

  void find_goal(uint64_t limit) {
    Goal goal;
    goal.limit_bytes = limit;
    std::vector<LeverSet> sets = goal_candidates(advice_, limit, goal_sets);
    sets.insert(sets.begin(), LeverSet{});
    for (auto next = sets.begin(); next != sets.end() && !goal.cheapest && !executor_.interrupted();) {
      auto end = next + std::min(static_cast<ptrdiff_t>(executor_.at_once()), sets.end() - next);
      for (VariantResult& result : runs_.run({next, end}, limit)) {
        ++goal.tried;
        if (!result.error && !goal.cheapest) goal.cheapest = std::move(result);
      }
      next = end;
    }
    advice_.goal = std::move(goal);
  }

 private:
  // What can be rewritten in it. A model that cannot be inspected has failed in the base run already.
  void learn_model() {
    RunRequest request = base_.request;
    request.command = "inspect";  // which runs nothing
    static_cast<ValueSettings&>(request) = {};
    const Run run = executor_.run_one({"the model", std::move(request), base_.device});
    model_ = model_facts(run.info.rest.value("model", json::object()));
  }

  void run_levers() {
    LeverContext context{base_.request, model_.has_activations, {}};
    for (const CheckpointModule& block : model_.blocks) context.blocks.push_back(block.path);
    std::vector<LeverSet> sets;
    std::vector<size_t> rows;
    for (const Lever& lever : lever_table()) {
      const char* why_not = lever.facts.why_not(context);
      if (!why_not) {
        sets.push_back({lever.name});
        rows.push_back(advice_.levers.size());
      }
      LeverResult& row = advice_.levers.emplace_back();
      row.group = lever.facts.group;
      row.cost = lever.facts.cost;
      row.code = lever.facts.code;
      row.why_not = why_not ? why_not : "";
      row.trial.name = lever.name;
    }
    std::vector<VariantResult> results = runs_.run(sets);
    for (size_t i = 0; i < results.size(); ++i) advice_.levers[rows[i]].trial = std::move(results[i]);
    for (LeverResult& row : advice_.levers) {
      const json& rewritten = row.trial.rewritten;
      const json inplace = rewritten.is_object() ? rewritten.value("inplace", json()) : json();
      if (row.group == "inplace" && inplace.is_object() && inplace.value("rewritten", 0) == 0)
        row.why_not = "no activation has an input that nothing else needs";
    }
  }

  // Results of rewritten code are compared on the CPU before its numbers count.
  void check_rewrites() {
    for (LeverResult& row : advice_.levers) {
      if (!row.why_not.empty() || row.trial.error || row.trial.rewritten.is_null()) continue;
      Job job = runs_.job_of({row.trial.name});
      job.request.command = "check";
      const Run run = executor_.run_one(job);
      if (executor_.interrupted()) return;
      row.check = run.info.rest.value("check", json());
      if (row.check.is_null())
        row.check = {{"made", false},
                     {"why", run.error ? run.error->message : "the engine reported nothing"}};
    }
  }

  // Of those that save something, the best one of each group; best first.
  std::vector<std::string> best_of_groups() const {
    std::set<std::string> groups;
    std::vector<std::string> best;
    for (const LeverResult& lever : advice_.levers) {
      if (verdict_of(lever, advice_.base) == Verdict::saves && groups.insert(lever.group).second)
        best.push_back(lever.trial.name);
    }
    return best;
  }

  // Pairs of the best, then greedily: each next lever stays if it saves more.
  void run_combinations() {
    const std::vector<std::string> best = best_of_groups();
    std::vector<LeverSet> pairs;
    for (size_t i = 0; i < best.size() && i < best_levers; ++i) {
      for (size_t j = i + 1; j < best.size() && j < best_levers; ++j) pairs.push_back({best[i], best[j]});
    }
    for (VariantResult& result : runs_.run(pairs)) {
      if (!result.error) advice_.combinations.push_back(std::move(result));
    }
    rank(advice_);
    if (advice_.combinations.empty() || !advice_.combinations.front().allocated) return;
    VariantResult together = advice_.combinations.front();
    for (const std::string& name : best) {
      if (executor_.interrupted()) return;
      if (std::find(together.levers.begin(), together.levers.end(), name) != together.levers.end()) continue;
      LeverSet larger = together.levers;
      larger.push_back(name);
      VariantResult result = std::move(runs_.run({larger}).front());
      if (!result.error && result.allocated && *result.allocated < *together.allocated)
        together = std::move(result);
    }
    if (together.levers.size() > 2) advice_.combinations.push_back(std::move(together));
  }

  void run_checkpoints() {
    bool applies = std::any_of(advice_.levers.begin(), advice_.levers.end(), [](const LeverResult& lever) {
      return lever.group == "checkpoint" && lever.why_not.empty();
    });
    if (!applies) return;
    order_blocks(model_.blocks, advice_.base.allocated, base_, executor_);
    advice_.frontier = run_frontier(model_.blocks, model_.leaves, base_, executor_);
  }

  const Job& base_;
  Advice& advice_;
  RunExecutor& executor_;
  LeverRuns runs_;
  ModelFacts model_;
};

}  // namespace

AdviseAnswer run_advise(const Job& base, std::optional<uint64_t> goal_bytes, RunExecutor& executor) {
  AdviseAnswer answer;
  answer.base = executor.run_one(base);
  answer.advice.base = variant_result_of(base.name, answer.base);
  if (answer.has_failed()) return answer;
  AdviseStudy study(base, answer.advice, executor);
  study.run();
  if (goal_bytes && !executor.interrupted()) study.find_goal(*goal_bytes);
  answer.is_interrupted = executor.interrupted();
  if (answer.is_interrupted) drop_unmeasured(answer.advice);
  return answer;
}

}  // namespace torchmem
