#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report/accuracy.h"
#include "report/document.h"
#include "report/run_header.h"
#include "report/run_result_text.h"
#include "report/table.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"
#include "text/words.h"
#include "torchmem/advice.h"
#include "torchmem/bytes.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t name_width = 30;
constexpr size_t size_width = 12;
constexpr size_t change_width = 13;

std::string saved_text(const std::optional<int64_t>& bytes) {
  if (!bytes) return "-";
  if (*bytes == 0) return "0 B";
  return (*bytes > 0 ? "-" : "+") + format_bytes(static_cast<uint64_t>(std::abs(*bytes)));
}

std::string size_text(const std::optional<uint64_t>& bytes) { return bytes ? format_bytes(*bytes) : "-"; }

Table trial_table(const char* title, TableColumn::Kind kind = TableColumn::Kind::name) {
  return Table({{.title = title, .kind = kind, .width = name_width},
                {.title = "allocated", .width = size_width},
                {.title = "change", .width = change_width},
                {.title = "reserved", .width = size_width},
                {.title = "change", .width = change_width, .is_optional = true}});
}

TableRow& add_trial(Table& table, const std::string& name, const VariantResult& trial,
                    const VariantResult& base) {
  return table.add(
      {name, bytes_cell(trial.allocated), number_cell(saved_text(saved(base.allocated, trial.allocated))),
       bytes_cell(trial.reserved), number_cell(saved_text(saved(base.reserved, trial.reserved)))});
}

std::string check_text(const json& check) {
  if (!check.is_object()) return "";
  if (!check.value("made", false))
    return "not checked on the CPU: " + check.value("why", std::string("the reason is unknown"));
  if (check.value("equal", false))
    return fmt::format("same results on the CPU ({} compared)",
                       counted(check.value("tensors", uint64_t{0}), "tensor"));
  return "other results on the CPU than without it: do not use it" +
         (check.contains("why") ? ": " + check["why"].get<std::string>() : std::string());
}

// Of a lever that saves: its line of code, what it costs, and what else is to be known.
std::vector<std::string> lever_details(const LeverResult& lever) {
  std::vector<std::string> lines = {lever.code, "cost: " + lever.cost};
  if (std::string check = check_text(lever.check); !check.empty()) lines.push_back(check);
  if (lever.group == "precision" && lever.trial.phase == "load" && lever.trial.allocated_after_load) {
    lines.push_back(
        "its peak is in load, where both copies of the weights are; converted before it is moved to "
        "the device, the peak is " +
        format_bytes(*lever.trial.allocated_after_load));
  }
  return lines;
}

// What saves, and what costs. `style`: of text, which has the details in it; null in the other forms.
Table lever_table(const Advice& advice, const TextStyle* style) {
  Table table = trial_table("lever");
  add_trial(table, "as it is", advice.base, advice.base);
  auto add_all = [&](Verdict verdict, const char* title) {
    bool any = false;
    for (const LeverResult& lever : advice.levers) {
      if (verdict_of(lever, advice.base) != verdict) continue;
      if (!any && *title && style) table.add_text("\n");
      if (!any && *title) table.add_title(title);
      any = true;
      TableRow& row = add_trial(table, lever.trial.name, lever.trial, advice.base);
      if (verdict != Verdict::saves || !style) continue;
      for (const std::string& line : lever_details(lever)) row.below += wrap(line, 4, *style);
    }
    return any;
  };
  if (!add_all(Verdict::saves, "")) {
    const char* none = "no lever saves anything at the peak";
    style ? table.add_text(fmt::format("  {}\n", none)) : table.add_note(none);
  }
  add_all(Verdict::harms, "it costs more with");
  return table;
}

// The levers of that verdict, each with why.
std::vector<std::string> names_of(const Advice& advice, Verdict verdict) {
  std::vector<std::string> lines;
  for (const LeverResult& lever : advice.levers) {
    if (verdict_of(lever, advice.base) != verdict) continue;
    std::string line = lever.trial.name;
    if (verdict == Verdict::does_not_apply) line += ": " + lever.why_not;
    if (verdict == Verdict::fails)
      line += ": " + (lever.trial.error
                          ? lever.trial.error->message.substr(0, lever.trial.error->message.find('\n'))
                          : check_text(lever.check));
    lines.push_back(std::move(line));
  }
  return lines;
}

// What is listed, after what is measured.
constexpr struct {
  Verdict verdict;
  const char* title;
} listed[] = {{Verdict::does_nothing, "does nothing at the peak"},
              {Verdict::fails, "cannot be used"},
              {Verdict::does_not_apply, "does not apply"}};

std::string list_text(const std::vector<std::string>& lines, const char* title, const TextStyle& style) {
  std::string text;
  for (const std::string& line : lines) text += wrap(line, 2, style);
  return text.empty() ? "" : fmt::format("\n{}\n{}", title, text);
}

Table combination_table(const Advice& advice) {
  Table table = trial_table("together", TableColumn::Kind::words);
  for (const VariantResult& trial : advice.combinations) add_trial(table, trial.name, trial, advice.base);
  return table;
}

Table frontier_table(const Advice& advice) {
  Table table = trial_table("checkpointing, modules");
  for (const FrontierPoint& point : advice.frontier) {
    std::string name =
        fmt::format("{} of {}, {:.0f} % run twice", point.modules.size(), point.of, point.share * 100);
    add_trial(table, name, point.trial, advice.base);
  }
  return table;
}

// "" where there is none.
std::string frontier_order(const Advice& advice) {
  if (advice.frontier.empty()) return "";
  return "in this order: " + joined(advice.frontier.back().modules);
}

std::string frontier_text(const Advice& advice, const TextStyle& style) {
  if (advice.frontier.empty()) return "";
  return "\n" + frontier_table(advice).text(style) + wrap(frontier_order(advice), 2, style);
}

struct GoalWords {
  std::string title;  // empty: there is no goal
  std::vector<std::string> lines;
  std::vector<std::string> code;
};

GoalWords goal_words(const Advice& advice) {
  if (!advice.goal) return {};
  const Goal& goal = *advice.goal;
  GoalWords words{fmt::format("goal: {} for the allocator", bytes_exactly(goal.limit_bytes)), {}, {}};
  if (!goal.cheapest) {
    words.lines = {fmt::format("not reached: none of the {} sets of levers that were tried runs within it.",
                               goal.tried)};
    return words;
  }
  if (goal.cheapest->levers.empty()) {
    words.lines = {"it runs within that as it is"};
    return words;
  }
  words.lines = {"cheapest: " + joined(goal.cheapest->levers, " + "),
                 fmt::format("allocated {}, reserved {} under that limit",
                             size_text(goal.cheapest->allocated), size_text(goal.cheapest->reserved))};
  for (const std::string& name : goal.cheapest->levers) {
    for (const LeverResult& lever : advice.levers) {
      if (lever.trial.name == name) words.code.push_back(lever.code);
    }
  }
  return words;
}

std::string goal_text(const Advice& advice, const TextStyle& style) {
  const GoalWords words = goal_words(advice);
  if (words.title.empty()) return "";
  std::string text = "\n" + words.title + "\n";
  for (const std::string& line : words.lines) text += wrap(line, 2, style);
  for (const std::string& line : words.code) text += wrap(line, 4, style);
  return text;
}

// The runs that may not be those of a GPU, where the base is not among them.
std::string decided_text(const Advice& advice) {
  if (advice.base.decided) return "";
  std::vector<std::string> names;
  auto add = [&](const VariantResult& trial) {
    if (trial.decided) names.push_back(trial.name);
  };
  for (const LeverResult& lever : advice.levers) add(lever.trial);
  for (const VariantResult& trial : advice.combinations) add(trial);
  for (const FrontierPoint& point : advice.frontier) add(point.trial);
  if (advice.goal && advice.goal->cheapest) add(*advice.goal->cheapest);
  if (names.empty()) return "";
  return "may be wrong, since a value that only a kernel would have computed decided a size, a loop or a "
         "branch: " +
         joined(names);
}

Document advice_document(const Advice& advice, const Run& about) {
  Document document("What lowers the peak of " + about.info.model.path);
  document.add_important(doubt_text(about));
  document.add_text(where_text(about));
  document.add_text("run: " + arguments_text(about));
  document.add_table(lever_table(advice, nullptr));
  for (const LeverResult& lever : advice.levers) {
    if (verdict_of(lever, advice.base) != Verdict::saves) continue;
    document.add_heading(lever.trial.name);
    document.add_list(lever_details(lever));
  }
  for (const auto& [verdict, title] : listed) {
    const std::vector<std::string> names = names_of(advice, verdict);
    if (!names.empty()) document.add_heading(title);
    document.add_list(names);
  }
  document.add_table(combination_table(advice));
  document.add_table(frontier_table(advice));
  document.add_text(frontier_order(advice));
  const GoalWords goal = goal_words(advice);
  document.add_heading(goal.title);
  document.add_list(goal.lines);
  document.add_list(goal.code);
  document.add_text(decided_text(advice));
  document.add_text(accuracy_line(about));
  return document;
}

json error_of(const VariantResult& trial) { return trial.error ? error_to_json(*trial.error) : json(); }

json trial_json(const VariantResult& trial, const VariantResult& base) {
  json object = {
      {"name", trial.name}, {"levers", trial.levers}, {"price", trial.price}, {"error", error_of(trial)}};
  if (trial.allocated) object["allocated_bytes"] = *trial.allocated;
  if (trial.reserved) object["reserved_bytes"] = *trial.reserved;
  if (trial.allocated_after_load) object["allocated_after_load_bytes"] = *trial.allocated_after_load;
  if (!trial.phase.empty()) object["phase"] = trial.phase;
  if (trial.decided) object["decided_by_assumed_values"] = true;
  if (auto bytes = saved(base.allocated, trial.allocated)) object["saved_allocated_bytes"] = *bytes;
  if (auto bytes = saved(base.reserved, trial.reserved)) object["saved_reserved_bytes"] = *bytes;
  if (!trial.rewritten.is_null()) object["rewritten"] = trial.rewritten;
  return object;
}

}  // namespace

std::string advice_text(const Advice& advice, const Run& about, const TextStyle& style) {
  std::string text;
  if (std::string doubt = doubt_text(about); !doubt.empty()) text += wrap(doubt, 0, style) + "\n";
  text += wrap(where_text(about), 0, style) + wrap("run: " + arguments_text(about), 0, style) + "\n";
  text += lever_table(advice, &style).text(style);
  for (const auto& [verdict, title] : listed) text += list_text(names_of(advice, verdict), title, style);
  if (!advice.combinations.empty()) text += "\n" + combination_table(advice).text(style);
  text += frontier_text(advice, style) + goal_text(advice, style);
  return text + "\n" + wrap(decided_text(advice), 0, style) + accuracy_text(about, style);
}

std::string advice_markdown(const Advice& advice, const Run& about) {
  return advice_document(advice, about).markdown();
}

std::string advice_html(const Advice& advice, const Run& about) {
  return advice_document(advice, about).html();
}

json advice_json(const Advice& advice, const Run& about) {
  const VariantResult& base = advice.base;
  json levers = json::array();
  for (const LeverResult& lever : advice.levers) {
    json object = trial_json(lever.trial, base);
    object["group"] = lever.group;
    object["cost"] = lever.cost;
    object["code"] = lever.code;
    object["verdict"] = name_of(verdict_of(lever, base));
    if (!lever.why_not.empty()) object["why_not"] = lever.why_not;
    if (!lever.check.is_null()) object["check"] = lever.check;
    levers.push_back(std::move(object));
  }
  json combinations = json::array();
  for (const VariantResult& trial : advice.combinations) combinations.push_back(trial_json(trial, base));
  json frontier = json::array();
  for (const FrontierPoint& point : advice.frontier) {
    json object = trial_json(point.trial, base);
    object["modules"] = point.modules;
    object["of"] = point.of;
    object["recomputed_share"] = point.share;
    frontier.push_back(std::move(object));
  }
  json document = {{"schema", "torchmem.advise/1"},           {"torchmem", TORCHMEM_VERSION},
                   {"base", trial_json(base, base)},          {"levers", std::move(levers)},
                   {"combinations", std::move(combinations)}, {"checkpoint_frontier", std::move(frontier)},
                   {"fidelity", accuracy_json(about)},        {"error", error_of(base)}};
  const json info = info_json(about.info);
  for (const char* name : {"model", "device", "software", "arguments"}) {
    if (info.contains(name)) document[name] = info[name];
  }
  if (advice.goal) {
    document["goal"] = {{"limit_bytes", advice.goal->limit_bytes}, {"tried", advice.goal->tried}};
    document["goal"]["cheapest"] = advice.goal->cheapest ? trial_json(*advice.goal->cheapest, base) : json();
  }
  return document;
}

}  // namespace torchmem
