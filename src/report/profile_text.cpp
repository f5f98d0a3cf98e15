#include <cstdio>

#include "report/fidelity.h"
#include "report/text.h"
#include "torchmem/bytes.h"
#include "torchmem/peak.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

std::string fact(const Run& run, const char* pointer) {
  json value = run.facts.value(json::json_pointer(pointer), json());
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string device_text(const Run& run) {
  std::string kind = fact(run, "/device/kind");
  std::string name = fact(run, "/device/name");
  std::string text;
  if (kind == "virtual") {
    text = "virtual:" + fact(run, "/device/profile") + (name.empty() ? "" : " (" + name + ")");
  } else if (kind == "cuda") {
    text = "cuda:" + fact(run, "/device/index") + (name.empty() ? "" : " (" + name + ")");
  } else {
    text = kind;
  }
  return text;
}

std::string arguments_text(const Run& run) {
  std::string mode = fact(run, "/arguments/mode");
  if (mode.empty()) return "";
  std::string text = mode;
  if (mode == "train") {
    text += ", " + fact(run, "/arguments/optimizer");
    std::string form = fact(run, "/arguments/optimizer_form");
    if (form != "loop") text += ":" + form;
    text += ", loss " + fact(run, "/arguments/loss");
    if (std::string of = fact(run, "/loss_on"); !of.empty()) text += " of " + of;
  }
  if (std::string cast = fact(run, "/arguments/autocast"); !cast.empty()) text += ", autocast " + cast;
  json steps = run.facts.value(json::json_pointer("/arguments/steps"), json());
  if (steps.is_number_unsigned() || steps.is_number_integer())
    text += ", " + counted(steps.get<uint64_t>(), "step");
  return text;
}

std::string header(const Run& run) {
  std::string text;
  auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += shorten(pad_right(name, 11) + value, report_width) + "\n";
  };
  std::string model = fact(run, "/model/path");
  json parameters = run.facts.value(json::json_pointer("/model/parameters/bytes"), json());
  if (!model.empty() && parameters.is_number())
    model += ", parameters " + format_bytes(parameters.get<uint64_t>());
  line("model", model);
  line("device", device_text(run));
  line("", fact(run, "/device/chosen"));
  std::string torch = fact(run, "/software/torch");
  std::string cuda = fact(run, "/software/cuda");
  std::string cudnn = fact(run, "/software/cudnn");
  if (!torch.empty()) {
    line("software", "torch " + torch + (cuda.empty() ? "" : ", CUDA " + cuda) +
                         (cudnn.empty() ? "" : ", cuDNN " + cudnn));
  }
  line("run", arguments_text(run));
  return text.empty() ? text : text + "\n";
}

std::string cell(const std::optional<Usage>& usage, uint64_t Usage::*member) {
  return pad_left(usage ? format_bytes((*usage).*member) : "-", 13);
}

std::string phase_row(const Phase& phase) {
  char time[32] = "-";
  if (phase.duration_ms) std::snprintf(time, sizeof time, "%.1f", *phase.duration_ms);
  std::string iteration = phase.iteration ? std::to_string(*phase.iteration) : "-";
  if (phase.micro) iteration += "." + std::to_string(*phase.micro);
  return pad_right(shorten(phase.name, 9), 9) + pad_left(shorten(iteration, 7), 8) +
         cell(phase.allocated, &Usage::current) + cell(phase.allocated, &Usage::peak) +
         cell(phase.reserved, &Usage::current) + cell(phase.reserved, &Usage::peak) + pad_left(time, 11) +
         "\n";
}

bool same_memory(const Phase& a, const Phase& b) {
  auto same = [](const std::optional<Usage>& x, const std::optional<Usage>& y) {
    return x.has_value() == y.has_value() && (!x || (x->current == y->current && x->peak == y->peak));
  };
  return a.name == b.name && a.micro == b.micro && same(a.allocated, b.allocated) &&
         same(a.reserved, b.reserved);
}

// The phases of one iteration.
struct Group {
  size_t first = 0;
  size_t count = 0;
};

std::vector<Group> group_by_iteration(const std::vector<Phase>& phases) {
  std::vector<Group> groups;
  for (size_t i = 0; i < phases.size(); ++i) {
    if (i == 0 || phases[i].iteration != phases[i - 1].iteration) groups.push_back({i, 0});
    ++groups.back().count;
  }
  return groups;
}

bool same_group(const std::vector<Phase>& phases, const Group& a, const Group& b) {
  if (a.count != b.count) return false;
  for (size_t i = 0; i < a.count; ++i) {
    if (!same_memory(phases[a.first + i], phases[b.first + i])) return false;
  }
  return true;
}

// Iterations that only repeat the one before are one line.
std::string phase_table(const Run& run) {
  if (run.phases.empty()) return "";
  std::string text = pad_right("phase", 9) + pad_left("iter", 8) + pad_left("allocated", 13) +
                     pad_left("peak", 13) + pad_left("reserved", 13) + pad_left("peak", 13) +
                     pad_left("ms", 11) + "\n";
  std::vector<Group> groups = group_by_iteration(run.phases);
  for (size_t i = 0; i < groups.size(); ++i) {
    size_t end = i;
    while (i > 0 && end < groups.size() && same_group(run.phases, groups[i - 1], groups[end])) ++end;
    if (end > i) {
      const auto& first = run.phases[groups[i].first].iteration;
      const auto& last = run.phases[groups[end - 1].first].iteration;
      std::string from = std::to_string(first.value_or(0));
      std::string to = std::to_string(last.value_or(0));
      text += from == to ? "  iteration " + from + ": the same\n"
                         : "  iterations " + from + " to " + to + ": the same\n";
      i = end - 1;
      continue;
    }
    for (size_t j = 0; j < groups[i].count; ++j) text += phase_row(run.phases[groups[i].first + j]);
  }
  return text + "\n";
}

std::string peak_text(const Run& run) {
  std::optional<Peak> peak = find_peak(run);
  if (!peak) return "";
  std::string where;
  if (peak->phase) where = ", in " + phase_name(*peak->phase, peak->iteration ? &*peak->iteration : nullptr);
  std::string text;
  auto line = [&](const char* name, uint64_t bytes, const std::string& note) {
    text += shorten(pad_right(name, 16) + bytes_exactly(bytes) + note, report_width) + "\n";
  };
  line("peak allocated", peak->allocated, where);
  if (peak->reserved) line("peak reserved", *peak->reserved, "");
  if (peak->device_bytes) line("peak on device", *peak->device_bytes, ", with context and modules");
  if (!peak->moment) return text + "\n";
  const AllocatorTotals& totals = peak->moment->totals;
  text += "of the " + format_bytes(totals.reserved) + " reserved at the peak of allocated:\n";
  auto part = [&](const char* name, uint64_t bytes, const std::string& note) {
    text += shorten("  " + pad_right(name, 15) + pad_left(format_bytes(bytes), 12) +
                        pad_left(percent(bytes, totals.reserved), 9) + (note.empty() ? "" : "  " + note),
                    report_width) +
            "\n";
  };
  uint64_t inactive = totals.reserved - totals.active;
  part("requested", totals.requested, "what was asked for");
  part("rounding", totals.active - totals.requested, "blocks larger than asked for");
  part("fragmentation", totals.inactive_split, "free parts of segments in use");
  part("cached", inactive - totals.inactive_split, "free, in whole or expandable segments");
  if (inactive > 0) text += "  largest free piece: " + bytes_exactly(peak->moment->largest_inactive) + "\n";
  return text + "\n";
}

}  // namespace

std::string profile_text(const Run& run) {
  std::string text = header(run) + phase_table(run) + peak_text(run);
  if (run.error) {
    std::string where;
    if (run.error->phase) {
      where = " in " + phase_name(*run.error->phase, run.error->iteration ? &*run.error->iteration : nullptr);
    }
    bool memory = run.error->kind == ErrorKind::out_of_memory;
    text += wrap((memory ? "out of memory" : "ended") + where + ":", 0) + wrap(run.error->message, 2) + "\n";
  }
  return text + fidelity_text(run);
}

}  // namespace torchmem
