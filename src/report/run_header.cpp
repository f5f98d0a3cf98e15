#include "report/run_header.h"

#include "report/style.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

std::string fact(const Run& run, const char* pointer) {
  json value = run.facts.value(json::json_pointer(pointer), json());
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string rewritten_text(const Run& run) {
  std::string text;
  json checkpoint = run.facts.value(json::json_pointer("/levers/checkpoint"), json());
  if (checkpoint.is_array()) {
    for (const json& path : checkpoint)
      text += (text.empty() ? "checkpointed " : ", ") + path.get<std::string>();
  }
  json inplace = run.facts.value(json::json_pointer("/levers/inplace/rewritten"), json());
  if (inplace.is_number_unsigned())
    text += (text.empty() ? "" : "; ") + counted(inplace.get<uint64_t>(), "activation") + " made in-place";
  return text;
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
  std::string text = fact(run, "/arguments/inference_mode") == "true" ? "inference-mode" : mode;
  if (mode == "train") {
    text += ", " + fact(run, "/arguments/optimizer");
    std::string form = fact(run, "/arguments/optimizer_form");
    if (form != "loop") text += ":" + form;
    text += ", loss " + fact(run, "/arguments/loss");
    if (std::string of = fact(run, "/loss_on"); !of.empty()) text += " of " + of;
  }
  if (std::string dtype = fact(run, "/arguments/dtype"); !dtype.empty()) text += ", dtype " + dtype;
  if (std::string cast = fact(run, "/arguments/autocast"); !cast.empty()) text += ", autocast " + cast;
  json steps = run.facts.value(json::json_pointer("/arguments/steps"), json());
  if (steps.is_number_unsigned() || steps.is_number_integer())
    text += ", " + counted(steps.get<uint64_t>(), "step");
  const json in_turn = run.facts.value(json::json_pointer("/arguments/sizes"), json());
  for (const auto& [name, sizes] : in_turn.items()) {
    text += ", " + name + " =";
    for (const json& size : sizes) text += " " + size.dump();
  }
  return text;
}

std::string model_name(const Run& run) {
  std::string model = fact(run, "/model/path");
  json parameters = run.facts.value(json::json_pointer("/model/parameters/bytes"), json());
  if (!model.empty() && parameters.is_number())
    model += ", parameters " + format_bytes(parameters.get<uint64_t>());
  return model;
}

std::string run_header(const Run& run, const TextStyle& style) {
  std::string text;
  auto line = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    text += named_line({.width = 11, .tint = Tint::dim}, name, printable(value), style);
  };
  line("model", model_name(run));
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
  line("", rewritten_text(run));
  return text.empty() ? text : text + "\n";
}

}  // namespace torchmem
