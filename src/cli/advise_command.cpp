#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/terminal.h"
#include "launch/engine_facts.h"
#include "launch/runner.h"
#include "request/sizes.h"
#include "run/phase_json.h"
#include "study/variants.h"
#include "torchmem/advice.h"
#include "torchmem/bytes.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t best_levers = 4;         // whose pairs are run
constexpr size_t goal_sets = 60;          // tried at most
constexpr size_t frontier_points = 6;     // between none and all modules
constexpr size_t most_blocks_alone = 32;  // that are checkpointed one by one, to find the best ones

constexpr const char* activations[] = {"relu", "relu6", "hardtanh",  "leaky_relu",  "elu",
                                       "selu", "celu",  "sigmoid",   "tanh",        "silu",
                                       "gelu", "mish",  "hardswish", "hardsigmoid", "threshold"};

constexpr const char* footer =
    "Every lever that applies is run and measured; the best ones also in pairs and together.\n"
    "--limit SIZE asks for the cheapest set of levers with which the allocator never reserves more. The "
    "order "
    "of prices: nothing, allocator settings, code that computes the same, time, numbers that differ, another "
    "training.\n"
    "Exit codes: 0 done; 1 no set of levers reaches the limit; 2 could not; 3 this machine cannot; 130 "
    "interrupted.";

struct Module {
  std::string path;
  size_t leaves = 0;  // innermost modules in it
  double worth = 0;   // bytes that checkpointing it alone saves, for each of these
};

class AdviseCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("MODEL", options_.model, "A TorchScript file")->required();
    add_running_options(app, options_);
    add_jobs_option(app, jobs_);
    add_html_option(app, html_, "The same as a page for any browser");
    add_markdown_option(app, markdown_);
    app.footer(footer);
  }

  ExitCode run() override {
    check_outputs({{"--html", html_}, {"--json", common.json}, {"--markdown", markdown_}},
                  input_files(options_));
    outputs_checked = true;
    std::optional<uint64_t> limit;
    base_.name = "as it is";
    base_.request = make_request(options_, "profile", common.log_level);
    std::swap(limit, base_.request.limit_bytes);  // the goal; the base run is without it
    base_.device = choose_device(options_.device);
    check_sized(base_.request);

    runner_ = std::make_unique<Runner>("advise", common.quiet, jobs_);
    Run about = run_one(base_);
    advice_.base = trial_of(base_.name, about);
    const std::optional<RunError>& error = advice_.base.error;
    if (error && error->kind != ErrorKind::out_of_memory) {
      if (!common.json.empty()) write_json_output(common.json, advice_json(advice_, about));
      say_error(about, "");
      return exit_code_of(error->kind);
    }
    for (auto stage :
         {&AdviseCommand::learn_model, &AdviseCommand::run_levers, &AdviseCommand::check_rewrites,
          &AdviseCommand::run_combinations, &AdviseCommand::run_frontier}) {
      if (!runner_->interrupted()) (this->*stage)();
      rank(advice_);
    }
    if (limit && !runner_->interrupted()) find_goal(*limit);
    bool interrupted = runner_->interrupted();
    if (interrupted) drop_unmeasured();
    json document = advice_json(advice_, about);
    if (interrupted) document["error"] = error_to_json(run_error(interruption()));
    result_written = true;
    write_results({{{"--html", html_}, [&] { return advice_html(advice_, about); }},
                   {{"--json", common.json}, [&] { return json_text(document); }},
                   {{"--markdown", markdown_}, [&] { return advice_markdown(advice_, about); }}},
                  [&] { return advice_text(advice_, about, output_style()); });
    if (interrupted) throw interruption();
    return advice_.goal && !advice_.goal->cheapest ? ExitCode::no : ExitCode::yes;
  }

  json error_document(const Error& error) const override {
    return {{"schema", "torchmem.advise/1"},
            {"torchmem", TORCHMEM_VERSION},
            {"levers", json::array()},
            {"error", error_to_json(run_error(error))}};
  }

 private:
  static Error interruption() {
    return {ErrorKind::interrupted, "interrupted: what was measured until then is said, the rest is missing"};
  }

  static bool is_unmeasured(const Trial& trial) {
    return trial.error ? trial.error->kind == ErrorKind::interrupted : !trial.allocated;
  }

  // What an interruption left without a number.
  void drop_unmeasured() {
    std::erase_if(advice_.levers, [](const LeverTrial& lever) {
      return lever.why_not.empty() && is_unmeasured(lever.trial);
    });
    std::erase_if(advice_.combinations, is_unmeasured);
    std::erase_if(advice_.frontier, [](const FrontierPoint& point) { return is_unmeasured(point.trial); });
    if (advice_.goal && !advice_.goal->cheapest) advice_.goal.reset();
  }

  Run run_one(const Job& job) { return runner_->run_one(job); }

  // What can be rewritten in it. A model that cannot be inspected has failed in the base run already.
  void learn_model() {
    context_.request = base_.request;
    RunRequest request = base_.request;
    request.command = "inspect";  // which runs nothing
    static_cast<ValueSettings&>(request) = {};
    Run run = run_one({"the model", std::move(request), base_.device});
    const json model = run.facts.value("model", json::object());
    const json operators = model.value("operators", json::object());
    for (const char* name : activations) {
      if (operators.contains(std::string("aten::") + name)) context_.has_activations = true;
    }
    const json modules = model.value("called_modules", json::array());
    for (const json& module : modules) {
      leaves_ += module.value("leaf", false);
      if (!module.value("auto", false)) continue;
      Module block{module.value("path", ""), 0};
      for (const json& inner : modules) {
        if (inner.value("leaf", false) && inner.value("path", "").starts_with(block.path + "."))
          ++block.leaves;
      }
      context_.blocks.push_back(block.path);
      blocks_.push_back(std::move(block));
    }
  }

  const Lever& lever_named(const std::string& name) const {
    return *std::find_if(lever_table().begin(), lever_table().end(),
                         [&](const Lever& lever) { return name == lever.name; });
  }

  Job job_of(const std::vector<std::string>& levers) const {
    Job job = base_;
    std::string text;
    for (const std::string& name : levers) text += (text.empty() ? "" : " + ") + name;
    if (!text.empty()) apply_variant(job, text);
    return job;
  }

  Trial trial(const Job& job, const std::vector<std::string>& levers, const Run& run) const {
    Trial result = trial_of(job.name, run);
    result.levers = levers;
    for (const std::string& name : levers) result.price += lever_named(name).facts.price;
    return result;
  }

  std::vector<Trial> run_sets(const std::vector<std::vector<std::string>>& sets,
                              std::optional<uint64_t> limit = {}) {
    std::vector<Job> jobs;
    for (const auto& set : sets) {
      jobs.push_back(job_of(set));
      if (limit) jobs.back().request.limit_bytes = *limit;
    }
    std::vector<Trial> trials(jobs.size());
    runner_->run(jobs,
                 [&](size_t index, const Run& run) { trials[index] = trial(jobs[index], sets[index], run); });
    return trials;
  }

  void run_levers() {
    std::vector<std::vector<std::string>> sets;
    for (const Lever& lever : lever_table()) {
      LeverTrial row;
      row.group = lever.facts.group;
      row.cost = lever.facts.cost;
      row.code = lever.facts.code;
      row.trial.name = lever.name;
      if (const char* why = lever.facts.why_not(context_)) {
        row.why_not = why;
      } else {
        sets.push_back({lever.name});
      }
      advice_.levers.push_back(std::move(row));
    }
    for (Trial& result : run_sets(sets)) {
      for (LeverTrial& row : advice_.levers) {
        if (row.trial.name != result.name) continue;
        row.trial = std::move(result);
        break;
      }
    }
    for (LeverTrial& row : advice_.levers) {
      const json rewritten =
          row.trial.rewritten.is_object() ? row.trial.rewritten.value("inplace", json()) : json();
      if (row.group == "inplace" && rewritten.is_object() && rewritten.value("rewritten", 0) == 0)
        row.why_not = "no activation has an input that nothing else needs";
    }
  }

  // Results of rewritten code are compared on the CPU before its numbers count.
  void check_rewrites() {
    for (LeverTrial& row : advice_.levers) {
      if (!row.why_not.empty() || row.trial.error || row.trial.rewritten.is_null()) continue;
      Job job = job_of({row.trial.name});
      job.request.command = "check";
      Run run = run_one(job);
      if (runner_->interrupted()) return;
      row.check = run.facts.value("check", json());
      if (row.check.is_null())
        row.check = {{"made", false}, {"why", run.error ? run.error->message : "the engine said nothing"}};
    }
  }

  std::vector<const LeverTrial*> useful() const {
    std::vector<const LeverTrial*> found;
    for (const LeverTrial& lever : advice_.levers) {
      if (verdict_of(lever, advice_.base) == Verdict::saves) found.push_back(&lever);
    }
    return found;
  }

  // Pairs of the best, then greedily: each next lever stays if it saves more.
  void run_combinations() {
    std::vector<const LeverTrial*> best = useful();
    std::set<std::string> groups;
    std::vector<const LeverTrial*> of_each_group;
    for (const LeverTrial* lever : best) {
      if (groups.insert(lever->group).second) of_each_group.push_back(lever);
    }
    std::vector<std::vector<std::string>> pairs;
    for (size_t i = 0; i < of_each_group.size() && i < best_levers; ++i) {
      for (size_t j = i + 1; j < of_each_group.size() && j < best_levers; ++j)
        pairs.push_back({of_each_group[i]->trial.name, of_each_group[j]->trial.name});
    }
    for (Trial& result : run_sets(pairs)) {
      if (!result.error) advice_.combinations.push_back(std::move(result));
    }
    rank(advice_);
    if (advice_.combinations.empty()) return;
    Trial together = advice_.combinations.front();
    for (const LeverTrial* lever : of_each_group) {
      if (runner_->interrupted()) return;
      if (std::find(together.levers.begin(), together.levers.end(), lever->trial.name) !=
          together.levers.end())
        continue;
      std::vector<std::string> larger = together.levers;
      larger.push_back(lever->trial.name);
      Trial result = std::move(run_sets({larger}).front());
      if (!result.error && result.allocated && *result.allocated < *together.allocated)
        together = std::move(result);
    }
    if (together.levers.size() > 2) advice_.combinations.push_back(std::move(together));
  }

  Job checkpointed(const std::vector<std::string>& modules) const {
    Job job = base_;
    job.name = "checkpoint " + (modules.size() == 1 ? modules.front() : std::to_string(modules.size()));
    job.request.checkpoint = modules;
    return job;
  }

  // Those first that save most by themselves, for what runs twice; equal ones in the order of their calls.
  // The last block of a network saves next to nothing: it is made again while all others are there.
  void order_blocks() {
    if (blocks_.size() > most_blocks_alone || !advice_.base.allocated) return;
    std::vector<Job> jobs;
    for (const Module& block : blocks_) jobs.push_back(checkpointed({block.path}));
    runner_->run(jobs, [&](size_t index, const Run& run) {
      Trial trial = trial_of(jobs[index].name, run);
      if (trial.error || !trial.allocated) return;
      blocks_[index].worth =
          (static_cast<double>(*advice_.base.allocated) - static_cast<double>(*trial.allocated)) /
          static_cast<double>(std::max<size_t>(blocks_[index].leaves, 1));
    });
    std::stable_sort(blocks_.begin(), blocks_.end(),
                     [](const Module& a, const Module& b) { return a.worth > b.worth; });
  }

  // The first 1, ... up to all of the blocks, as they were ordered.
  void run_frontier() {
    bool applies = std::any_of(advice_.levers.begin(), advice_.levers.end(), [](const LeverTrial& lever) {
      return lever.group == "checkpoint" && lever.why_not.empty();
    });
    if (!applies) return;
    order_blocks();
    std::set<size_t> counts = {1, blocks_.size()};
    for (size_t i = 1; i < frontier_points; ++i) {
      counts.insert(std::max<size_t>(
          1, static_cast<size_t>(std::lround(static_cast<double>(blocks_.size() * i) / frontier_points))));
    }
    std::vector<Job> jobs;
    for (size_t count : counts) {
      FrontierPoint point;
      point.of = blocks_.size();
      size_t twice = 0;
      for (size_t i = 0; i < count; ++i) {
        point.modules.push_back(blocks_[i].path);
        twice += blocks_[i].leaves;
      }
      point.share = static_cast<double>(twice) / static_cast<double>(std::max<size_t>(leaves_, 1));
      jobs.push_back(checkpointed(point.modules));
      advice_.frontier.push_back(std::move(point));
    }
    runner_->run(jobs, [&](size_t index, const Run& run) {
      advice_.frontier[index].trial = trial_of(jobs[index].name, run);
    });
  }

  void find_goal(uint64_t limit) {
    Goal goal;
    goal.limit_bytes = limit;
    std::vector<std::vector<std::string>> sets = goal_candidates(advice_, limit, goal_sets);
    sets.insert(sets.begin(), std::vector<std::string>{});
    size_t at_once = runner_->at_once();
    for (size_t start = 0; start < sets.size() && !goal.cheapest && !runner_->interrupted();
         start += at_once) {
      std::vector<std::vector<std::string>> some(
          sets.begin() + static_cast<ptrdiff_t>(start),
          sets.begin() + static_cast<ptrdiff_t>(std::min(start + at_once, sets.size())));
      for (Trial& result : run_sets(some, limit)) {
        ++goal.tried;
        if (!result.error && !goal.cheapest) goal.cheapest = std::move(result);
      }
    }
    advice_.goal = std::move(goal);
  }

  std::string html_;
  std::string markdown_;
  ModelOptions options_;
  size_t jobs_ = 0;
  Job base_;
  LeverContext context_;
  std::vector<Module> blocks_;
  size_t leaves_ = 0;  // innermost modules that the forward calls
  Advice advice_;
  std::unique_ptr<Runner> runner_;  // one, so that PyTorch is loaded once and no interruption is lost
};

}  // namespace

std::unique_ptr<Command> make_advise_command() { return std::make_unique<AdviseCommand>(); }

}  // namespace torchmem
