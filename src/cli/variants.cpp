#include "cli/variants.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "cli/alloc_conf.h"
#include "cli/model_options.h"
#include "cli/sizes.h"
#include "cli/spec.h"
#include "torchmem/error.h"

namespace torchmem::cli {

using nlohmann::json;

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::bad_usage, why); }

uint64_t whole_number(const std::string& text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 || number > INT32_MAX)
    refuse("'" + text + "' is not a whole number from 1 to " + std::to_string(INT32_MAX));
  return number;
}

std::string one_of(const std::string& text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) != names.end()) return text;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  refuse("'" + text + "' is none of " + known);
}

void set_mode(Job& job, const char* mode, bool inference_mode) {
  job.request["mode"] = mode;
  job.request["inference_mode"] = inference_mode;
}

json split(const std::string& text) {
  json parts = json::array();
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    if (end == start) refuse("a module's name is missing in '" + text + "'");
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

void set_optimizer(Job& job, const std::string& value) {
  auto [name, form] = parse_optimizer(value);
  job.request["mode"] = "train";
  job.request["optimizer"] = name;
  job.request["optimizer_form"] = form;
}

void set_shapes(Job& job, const std::string& value) {
  if (sized_dimension(job.request).second == 0) refuse("no shape changes: it needs --sizes NAME=N,N,...");
  one_of(value, {"padded", "buckets", "warm_up"});
  if (value == "padded") pad_sizes(job.request);
  if (value == "buckets") bucket_sizes(job.request);
  if (value == "warm_up") warm_up_sizes(job.request);
}

void set_device(Job& job, const std::string& value) {
  bool is_whole =
      value.find(':') != std::string::npos || value == "auto" || value == "cuda" || value == "virtual";
  job.device = choose_device(is_whole ? value : "virtual:" + value);
}

// Two parts that cannot both be.
void check_together(const std::vector<std::string>& parts) {
  auto given = [&](const char* name) { return std::find(parts.begin(), parts.end(), name) != parts.end(); };
  const char* mode = nullptr;
  for (const char* name : {"no_grad", "inference_mode", "grad", "train"}) {
    if (!given(name)) continue;
    if (mode) refuse(std::string("'") + mode + "' and '" + name + "' are two modes; one run has one");
    mode = name;
  }
  if (mode && std::string(mode) != "train" && given("optimizer"))
    refuse(std::string("'optimizer' is for training, and '") + mode + "' trains nothing");
}

std::string names_of_variants() {
  std::string names;
  for (const VariantEntry& entry : variant_table()) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
    if (*entry.value) names += "=" + std::string(entry.value);
  }
  return names;
}

void apply_part(Job& job, const std::string& part) {
  size_t equals = part.find('=');
  std::string name = part.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
  for (const VariantEntry& entry : variant_table()) {
    if (name != entry.name) continue;
    bool takes = *entry.value != '\0';
    if (takes && value.empty()) refuse("'" + name + "' needs a value, " + name + "=" + entry.value);
    if (!takes && equals != std::string::npos) refuse("'" + name + "' takes no value");
    entry.apply(job, value);
    return;
  }
  refuse("there is no '" + name + "'. Variants: " + names_of_variants());
}

}  // namespace

const std::vector<VariantEntry>& variant_table() {
  static const std::vector<VariantEntry> table = {
      {"base", "", "what the options say, unchanged", [](Job&, const std::string&) {}},
      {"no_grad", "", "forward alone under torch.no_grad()",
       [](Job& job, const std::string&) { set_mode(job, "inference", false); }},
      {"inference_mode", "", "forward alone under torch.inference_mode()",
       [](Job& job, const std::string&) { set_mode(job, "inference", true); }},
      {"grad", "", "forward alone, with what backward would need",
       [](Job& job, const std::string&) { set_mode(job, "grad-forward", false); }},
      {"train", "", "forward, loss, backward, optimizer",
       [](Job& job, const std::string&) { set_mode(job, "train", false); }},
      {"autocast", "bf16|f16", "mixed precision",
       [](Job& job, const std::string& value) {
         job.request["autocast"] = one_of(value, {"bf16", "f16"});
       }},
      {"dtype", "bf16|f16|f32", "weights and floating inputs of that type",
       [](Job& job, const std::string& value) {
         job.request["dtype"] = one_of(value, {"bf16", "f16", "f32"});
       }},
      {"channels_last", "", "weights and inputs in channels-last layout",
       [](Job& job, const std::string&) { job.request["channels_last"] = true; }},
      {"checkpoint", "MODULE,...|auto", "activations of these modules are computed again in backward",
       [](Job& job, const std::string& value) { job.request["checkpoint"] = split(value); }},
      {"inplace", "", "activation functions in place, where nobody else sees it",
       [](Job& job, const std::string&) { job.request["inplace"] = true; }},
      {"empty_cache", "", "the cache emptied after each iteration",
       [](Job& job, const std::string&) { job.request["empty_cache"] = true; }},
      {"keep_outputs", "", "results and losses kept until the next ones are there",
       [](Job& job, const std::string&) { job.request["keep_outputs"] = true; }},
      {"keep_grads", "", "gradients set to zero rather than released",
       [](Job& job, const std::string&) { job.request["keep_grads"] = true; }},
      {"accumulate", "N", "N micro-batches, each of the inputs' size, for one optimizer step",
       [](Job& job, const std::string& value) { job.request["accumulate"] = whole_number(value); }},
      {"optimizer", "NAME[:foreach|:fused]", "training with that optimizer", set_optimizer},
      {"jit", "on|off", "TorchScript's optimizer and fusers",
       [](Job& job, const std::string& value) {
         job.request["jit"] = one_of(value, {"on", "off"}) == "on";
       }},
      {"alloc", "CONF", "allocator settings, as in PYTORCH_CUDA_ALLOC_CONF",
       [](Job& job, const std::string& value) {
         check_alloc_conf(value, "allocator settings");
         job.request["alloc_conf"] = value;
       }},
      {"batch", "N", "the dimension B of the inputs, else their first one",
       [](Job& job, const std::string& value) { set_batch(job.request["inputs"], whole_number(value)); }},
      {"shapes", "padded|buckets|warm_up", "what is done about shapes that change (--sizes)", set_shapes},
      {"device", "NAME", "a profile's name, or as --device has it", set_device},
  };
  return table;
}

void apply_variant(Job& job, std::string_view variant) {
  std::string text(variant);
  std::vector<std::string> seen;
  try {
    for (size_t start = 0; start <= text.size();) {
      size_t end = std::min(text.find('+', start), text.size());
      std::string part = text.substr(start, end - start);
      if (part.empty()) refuse("there is nothing to change");
      std::string name = part.substr(0, part.find('='));
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) refuse("'" + name + "' is given twice");
      seen.push_back(name);
      apply_part(job, part);
      start = end + 1;
    }
    check_together(seen);
  } catch (const Error& error) {
    throw Error(error.kind(), "--variant " + text + ": " + error.what());
  }
  job.name = text;
}

std::string variant_help() {
  constexpr size_t name_width = 24;
  std::string text;
  for (const VariantEntry& entry : variant_table()) {
    std::string name = entry.name + (*entry.value ? "=" + std::string(entry.value) : std::string());
    name.resize(std::max(name.size() + 1, name_width), ' ');
    text += "  " + name + entry.help + "\n";
  }
  return text;
}

}  // namespace torchmem::cli
