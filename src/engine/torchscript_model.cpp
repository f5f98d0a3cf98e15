#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/serialization/import.h>

#include "capture/assumptions.h"
#include "capture/decisions.h"
#include "engine/archive.h"
#include "engine/checkpoint.h"
#include "engine/failure.h"
#include "engine/graph_facts.h"
#include "engine/inplace.h"
#include "engine/model.h"
#include "engine/torch_message.h"
#include "engine/value_uses.h"
#include "engine/weightless_file.h"

namespace torchmem::engine {
namespace {

using nlohmann::json;

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// PyTorch's "Unknown builtin op: NAME." as ours.
void refuse_unknown_operator(const RunRequest& request, const std::string& what) {
  static const std::string mark = "Unknown builtin op: ";
  const auto at = what.find(mark);
  if (at == std::string::npos) return;
  const auto begin = at + mark.size();
  std::string name = what.substr(begin, what.find_first_of(" \n", begin) - begin);
  if (!name.empty() && name.back() == '.') name.pop_back();
  const auto missing = missing_operators(request.model);
  std::string message =
      "Cannot load the model " + request.model + ": the operator " + name + " is unknown to LibTorch.";
  const std::string place = parse_torch_message(what).place();
  if (!place.empty()) message += " It is called at " + place + ".";
  throw Failure(FailureKind::bad_model, message,
                {{"operator", name}, {"missing_operators", missing}, {"place", place}}, Remedy::give_library);
}

class TorchScriptModel : public Model {
 public:
  TorchScriptModel(const RunRequest& request, const ArchiveFacts& archive, torch::jit::Module module)
      : path_(request.model), archive_(archive), module_(std::move(module)), method_(find_method(request)) {}

  std::vector<c10::Argument> arguments() const override {
    const auto& arguments = method_.function().getSchema().arguments();
    return {arguments.begin() + 1, arguments.end()};
  }

  std::string signature() const override { return signature_text(method_); }

  void set_training(bool training) override { module_.train(training); }

  std::vector<at::Tensor> parameters() const override {
    std::vector<at::Tensor> result;
    for (const at::Tensor& parameter : module_.parameters()) result.push_back(parameter);
    return result;
  }

  std::vector<at::Tensor> buffers() const override {
    std::vector<at::Tensor> result;
    for (const at::Tensor& buffer : module_.buffers()) result.push_back(buffer);
    return result;
  }

  std::vector<NamedTensor> named_tensors() const override {
    std::vector<NamedTensor> result;
    for (const auto& parameter : module_.named_parameters())
      result.push_back({parameter.name, parameter.value, Category::parameters});
    for (const auto& buffer : module_.named_buffers())
      result.push_back({buffer.name, buffer.value, Category::buffers});
    for (const at::Tensor& weight : frozen_weights())
      result.push_back({"constant " + std::to_string(result.size()), weight, Category::parameters});
    return result;
  }

  c10::IValue run(std::vector<c10::IValue> arguments) override { return method_(std::move(arguments)); }

  void to_channels_last() override {
    const auto convert = [](const at::Tensor& tensor) {
      if (tensor.dim() == 4) tensor.set_data(tensor.detach().contiguous(at::MemoryFormat::ChannelsLast));
    };
    for (const auto& module :
         module_.modules()) {  // in the order of module.to(): parameters, then buffers, of each module
      for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) convert(parameter);
      for (const at::Tensor& buffer : module.buffers(/*recurse=*/false)) convert(buffer);
    }
  }

  void to_dtype(c10::ScalarType dtype) override {
    const auto convert = [dtype](const at::Tensor& tensor) {
      if (tensor.is_floating_point()) tensor.set_data(tensor.detach().to(dtype));
    };
    for (const auto& module : module_.modules()) {
      for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) convert(parameter);
      for (const at::Tensor& buffer : module.buffers(/*recurse=*/false)) convert(buffer);
    }
  }

  json rewrite(const RunRequest& request) override {
    json done = json::object();
    if (!request.checkpoint.empty()) done["checkpoint"] = checkpoint_modules(method_, request.checkpoint);
    if (request.inplace) done["inplace"] = make_activations_inplace(method_, request.mode != Mode::inference);
    return done;
  }

  json facts() const override {
    json facts = {{"path", path_},
                  {"format", "torchscript"},
                  {"file_bytes", archive_.file_bytes},
                  {"signature", signature()},
                  {"method", method_.name()}};
    facts.update(tensor_totals(is_frozen() ? frozen_weights() : parameters(), "parameters"));
    facts.update(tensor_totals(buffers(), "buffers"));
    return facts;
  }

  json constant_devices() const override { return graph_facts(method_)["constant_devices"]; }

  json description() const override {
    json result = facts();
    result["format_version"] = archive_.format_version;
    result.update(module_facts(module_));
    result.update(graph_facts(method_));
    result["called_modules"] = called_modules();
    return result;
  }

 private:
  json called_modules() const {
    json modules = json::array();
    for (const auto& module : checkpoint_candidates(method_)) {
      modules.push_back({{"path", module.path},
                         {"class", module.class_name},
                         {"operators", module.operators},
                         {"leaf", module.is_leaf},
                         {"auto", module.is_automatic}});
    }
    return modules;
  }

  static json tensor_totals(const std::vector<at::Tensor>& tensors, const std::string& name) {
    std::int64_t elements = 0;
    std::int64_t bytes = 0;
    for (const auto& tensor : tensors) {
      elements += tensor.numel();
      bytes += static_cast<std::int64_t>(tensor.nbytes());
    }
    return {{name, {{"tensors", tensors.size()}, {"elements", elements}, {"bytes", bytes}}}};
  }

  torch::jit::Method find_method(const RunRequest& request) const {
    if (auto method = module_.find_method(request.method)) return *method;
    std::vector<std::string> names;
    for (const auto& method : module_.get_methods()) names.push_back(method.name());
    std::string message = "The model " + request.model + " has no method \"" + request.method + "\".";
    message += names.empty() ? " It has no method at all." : " Its methods are: " + join(names) + ".";
    throw Failure(FailureKind::bad_model, message, {{"methods", names}},
                  names.empty() ? Remedy::none : Remedy::choose_method);
  }

  // Freezing makes constants of the graph of all weights.
  bool is_frozen() const { return module_.parameters().size() == 0 && module_.buffers().size() == 0; }

  std::vector<at::Tensor> frozen_weights() const {
    return is_frozen() ? constant_tensors(method_) : std::vector<at::Tensor>();
  }

  std::string path_;
  ArchiveFacts archive_;
  mutable torch::jit::Module module_;
  mutable torch::jit::Method method_;
};

}  // namespace

std::unique_ptr<Model> load_torchscript(const RunRequest& request, c10::Device device, bool weightless) {
  const ArchiveFacts archive = check_archive(request.model);
  if (device.is_cuda() && is_quantized(request.model)) {
    throw Failure(
        FailureKind::bad_model,
        "The model " + request.model +
            " is quantized, and PyTorch's quantized operators run on the CPU "
            "only: it cannot be loaded onto a CUDA device.\nGive the model as it was before quantization.");
  }
  if (has_onednn(request.model)) {
    throw Failure(
        FailureKind::bad_model,
        "The model " + request.model +
            " was saved after torch.jit.optimize_for_inference on the CPU, which puts oneDNN's weights and "
            "operators into it: no GPU can load them.\nSave it before that, or after torch.jit.freeze "
            "(docs/models.md).");
  }
  if (!request.jit) {
    torch::jit::setGraphExecutorOptimize(false);
    torch::jit::setTensorExprFuserEnabled(false);
  }
  try {
    const capture::UncountedReads uncounted;
    torch::jit::Module module =
        weightless ? torch::jit::load(std::make_shared<WeightlessFile>(request.model), device)
                   : torch::jit::load(request.model, device);
    if (weightless) capture::on_lines_that_decide(lines_that_decide(module));
    return std::make_unique<TorchScriptModel>(request, archive, std::move(module));
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    refuse_unknown_operator(request, what);
    throw Failure(FailureKind::bad_model,
                  "Cannot load the model " + request.model + ": " + parse_torch_message(what).text);
  } catch (const Failure&) {
    throw;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    refuse_unknown_operator(request, what);
    throw Failure(FailureKind::bad_model,
                  "Cannot load the model " + request.model + ": " + parse_torch_message(what).text);
  }
}

}  // namespace torchmem::engine
