#include <spdlog/fmt/fmt.h>

#include "report/text.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"
#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t shown_of_a_list = 20;

std::string shape_text(const json& shape) {
  if (!shape.is_array() || shape.empty()) return "scalar";
  std::vector<std::string> sizes;
  for (const json& dimension : shape) sizes.push_back(dimension.dump());
  return joined(sizes, "x");
}

std::string tensor_line(const json& tensor, const TextStyle& style) {
  std::string type = tensor.value("dtype", "?") + ":" + shape_text(tensor.value("shape", json()));
  std::string name = tensor.value("name", "");
  if (std::string device = tensor.value("device", ""); !device.empty())
    name += (name.empty() ? "on " : " on ") + device;
  if (!tensor.value("requires_grad", true)) name += " (no gradient)";
  std::string size = format_bytes(tensor.value("bytes", uint64_t{0}));
  return fitted(fmt::format("  {:>11}  {} {}", size, pad_right(type, 24), name), style.width, style) + "\n";
}

// A heading with the totals, then the tensors one a line.
std::string tensor_list(const json& model, const char* totals_name, const char* list_name,
                        const TextStyle& style) {
  const json totals = model.value(totals_name, json::object());
  const json list = model.value(list_name, json::array());
  uint64_t count = totals.value("tensors", list.size());
  std::string text = fmt::format("{}: {}", totals_name, counted(count, "tensor"));
  if (totals.contains("elements")) text += ", " + counted(totals["elements"].get<uint64_t>(), "element");
  if (totals.contains("bytes")) text += ", " + bytes_exactly(totals["bytes"].get<uint64_t>());
  text = wrap(text, 0, style);
  for (size_t i = 0; i < list.size() && i < shown_of_a_list; ++i) text += tensor_line(list[i], style);
  if (list.size() > shown_of_a_list)
    text += fmt::format("  and {} more (--json lists all)\n", format_count(list.size() - shown_of_a_list));
  return text;
}

std::string operator_list(const json& operators, const TextStyle& style) {
  if (!operators.is_object() || operators.empty()) return "";
  std::vector<std::string> names;
  for (const auto& [name, count] : operators.items())
    names.push_back(count.is_number() && count.get<int64_t>() > 1 ? name + " x" + count.dump() : name);
  return "operators:\n" + wrap(joined(names), 2, style);
}

std::string missing_list(const json& model, const TextStyle& style) {
  const auto names = model.value("missing_operators", std::vector<std::string>());
  if (names.empty()) return "";
  return wrap("missing: operators that LibTorch lacks: " + joined(names) +
                  "\nThey come from an extension library: give it with --library FILE.so",
              0, style);
}

}  // namespace

json model_json(const Run& run) {
  json result = {{"schema", "torchmem.inspect/1"}, {"torchmem", TORCHMEM_VERSION}};
  const json info = info_json(run.info);
  for (const auto& [name, value] : info.items()) {
    if (!result.contains(name)) result[name] = value;
  }
  result["error"] = run.error ? error_to_json(*run.error) : json();
  return result;
}

std::string model_text(const Run& run, const TextStyle& style) {
  const json model = info_json(run.info).value("model", json::object());
  std::string text = wrap(fmt::format("{}: TorchScript, file format {}, {}", model.value("path", "model"),
                                      model.value("format_version", json("unknown")).dump(),
                                      format_bytes(model.value("file_bytes", uint64_t{0}))),
                          0, style);
  for (const json& method : model.value("methods", json::array())) {
    text += wrap(method.value("signature", ""), 2, style);
  }
  if (!model.contains("methods") && model.contains("signature"))
    text += wrap(model.value("signature", ""), 2, style);
  text += tensor_list(model, "parameters", "parameter_tensors", style);
  if (model.value("frozen", false)) text += "  none: frozen or without weights, so it cannot be trained\n";
  text += tensor_list(model, "buffers", "buffer_tensors", style);
  if (const json constants = model.value("constant_tensors", json::array()); !constants.empty()) {
    text += tensor_list({{"constants", json::object()}, {"list", constants}}, "constants", "list", style);
  }
  for (const json& device : model.value("constant_devices", json::array())) {
    std::string name = device.value("device", "?");
    text += wrap(fmt::format("device constant: {} at {}", name, device.value("line", "?")), 0, style);
    if (name == "cpu")
      text += wrap(
          "On a GPU this part of the model stays on the CPU and may fail: trace the model on the GPU, or "
          "use torch.jit.script.",
          0, style);
  }
  if (model.value("quantized", false)) {
    text += wrap("quantized: PyTorch's quantized operators run on the CPU only", 0, style);
  }
  text += operator_list(model.value("operators", json()), style);
  return text + missing_list(model, style);
}

}  // namespace torchmem
