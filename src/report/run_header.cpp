#include "report/run_header.h"

#include <spdlog/fmt/ranges.h>

#include "report/style.h"
#include "report/text.h"
#include "text/words.h"
#include "torchmem/bytes.h"

namespace torchmem {

std::string rewritten_text(const Run& run) {
  std::vector<std::string> parts;
  if (const auto& modules = run.info.checkpointed; !modules.empty())
    parts.push_back("checkpointed " + joined(modules));
  if (const auto& count = run.info.made_inplace)
    parts.push_back(counted(*count, "activation") + " made in-place");
  return joined(parts, "; ");
}

std::string device_text(const Run& run) {
  const RunInfo::Device& device = run.info.device;
  const std::string name = device.name.empty() ? "" : fmt::format(" ({})", device.name);
  if (device.kind == "virtual") return "virtual:" + device.profile + name;
  if (device.kind == "cuda") return "cuda:" + (device.index ? std::to_string(*device.index) : "") + name;
  return device.kind;
}

std::string arguments_text(const Run& run) {
  const RunInfo::Arguments& arguments = run.info.arguments;
  if (arguments.mode.empty()) return "";
  std::string text = arguments.inference_mode.value_or(false) ? "inference-mode" : arguments.mode;
  if (arguments.mode == "train") {
    text += ", " + arguments.optimizer;
    if (arguments.optimizer_form != "loop") text += ":" + arguments.optimizer_form;
    text += ", loss " + arguments.loss;
    if (!run.info.loss_on.empty()) text += " of " + run.info.loss_on;
  }
  if (!arguments.dtype.empty()) text += ", dtype " + arguments.dtype;
  if (!arguments.autocast.empty()) text += ", autocast " + arguments.autocast;
  if (arguments.steps) text += ", " + counted(*arguments.steps, "step");
  for (const auto& [name, sizes] : arguments.sizes)
    text += fmt::format(", {} = {}", name, fmt::join(sizes, " "));
  return text;
}

std::string model_name(const Run& run) {
  const RunInfo::Model& model = run.info.model;
  if (model.path.empty() || !model.parameter_bytes) return model.path;
  return fmt::format("{}, parameters {}", model.path, format_bytes(*model.parameter_bytes));
}

std::string run_header(const Run& run, const TextStyle& style) {
  std::string text;
  auto line = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    text += named_line({.width = 11, .tint = Tint::dim}, name, printable(value), style);
  };
  line("model", model_name(run));
  line("device", device_text(run));
  line("", run.info.device.chosen);
  const auto& [torch, cuda, cudnn] = run.info.software;
  if (!torch.empty()) {
    line("software", "torch " + torch + (cuda.empty() ? "" : ", CUDA " + cuda) +
                         (cudnn.empty() ? "" : ", cuDNN " + cudnn));
  }
  line("run", arguments_text(run));
  line("", rewritten_text(run));
  return text.empty() ? text : text + "\n";
}

}  // namespace torchmem
