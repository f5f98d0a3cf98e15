#include "engine/scenario.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <map>
#include <memory>

#include "capture/dtype.h"
#include "capture/operator_tracking.h"
#include "engine/attribution.h"
#include "engine/autocast.h"
#include "engine/device.h"
#include "engine/failure.h"
#include "engine/gradients.h"
#include "engine/inputs.h"
#include "engine/ivalue_tensors.h"
#include "engine/loss.h"
#include "engine/model.h"
#include "engine/optimizer.h"
#include "engine/results.h"
#include "values/virtual_device.h"

namespace torchmem::engine {
namespace {

using c10::IValue;
using nlohmann::json;

struct OptimizerOfModels {
  std::unique_ptr<Optimizer> optimizer;
  std::vector<at::Tensor> parameters;
  std::string kind;
  bool foreach = false;
};

class Scenario {
 public:
  Scenario(const RunRequest& request, capture::StreamWriter& writer, RunState& state, c10::Device device)
      : request_(request),
        writer_(writer),
        state_(state),
        device_(device),
        attribution_(state.recorder->owners()) {}

  void run() {
    const auto& actions = request_.actions;
    for (std::size_t i = 0; i < actions.size();) {
      const json& action = actions[i];
      state_.recorder->begin_phase(action.at("do").get<std::string>(), static_cast<int>(i));
      const bool done = attempt(action, i);
      state_.recorder->end_phase();
      i = done ? i + 1 : action.at("on_out_of_memory").get<std::size_t>();
    }
  }

 private:
  using Do = void (Scenario::*)(const json&);

  // False when it ran out of memory and the actions go on elsewhere.
  bool attempt(const json& action, std::size_t position) {
    try {
      perform(action);
      return true;
    } catch (...) {
      const ErrorRecord record = error_record(std::current_exception(), request_, state_);
      if (record.kind != FailureKind::out_of_memory) throw;
      writer_.facts({{"out_of_memory", {{std::to_string(position), record.json}}}});
      if (action.contains("on_out_of_memory")) return false;
      state_.recorder->end_phase();  // what there was when it happened
      throw;
    }
  }

  void perform(const json& action) {
    static const std::map<std::string, Do> table = {{"load", &Scenario::load},
                                                    {"input", &Scenario::input},
                                                    {"forward", &Scenario::forward},
                                                    {"loss", &Scenario::loss},
                                                    {"backward", &Scenario::backward},
                                                    {"detach", &Scenario::detach},
                                                    {"optimizer", &Scenario::make_optimizer},
                                                    {"step", &Scenario::step},
                                                    {"zero_grad", &Scenario::zero_grad},
                                                    {"keep", &Scenario::keep},
                                                    {"release", &Scenario::release},
                                                    {"alloc", &Scenario::alloc},
                                                    {"empty_cache", &Scenario::empty_cache},
                                                    {"autocast", &Scenario::autocast},
                                                    {"grad", &Scenario::grad},
                                                    {"limit", &Scenario::limit}};
    const auto name = action.at("do").get<std::string>();
    const auto found = table.find(name);
    if (found == table.end())
      throw Failure(FailureKind::bad_usage, "The engine knows no action \"" + name + "\".");
    (this->*found->second)(action);
  }

  template <class T>
  static T& named(std::map<std::string, T>& things, const std::string& name, const char* what) {
    const auto found = things.find(name);
    if (found == things.end()) {
      throw Failure(FailureKind::bad_usage, "There is no " + std::string(what) + " \"" + name +
                                                "\" at this moment (it was released, or what makes it was "
                                                "skipped after an out-of-memory).");
    }
    return found->second;
  }

  IValue& value(const json& action, const char* field) {
    return named(values_, action.at(field).get<std::string>(), "value");
  }

  void set(const json& action, IValue value) {
    values_[action.at("as").get<std::string>()] = std::move(value);
  }

  void load(const json& action) {
    RunRequest own = request_;
    own.model = action.at("model").get<std::string>();
    own.method = action.value("method", "forward");
    own.mode = action.value("train", true) ? Mode::train : Mode::inference;
    own.checkpoint = action.value("checkpoint", std::vector<std::string>{});
    own.inplace = action.value("inplace", false);
    auto model = load_torchscript(own, device_, values::virtual_device().present());
    model->set_training(own.mode == Mode::train);
    if (action.contains("dtype")) model->to_dtype(*capture::parse_dtype(action["dtype"].get<std::string>()));
    model->rewrite(own);
    if (action.value("channels_last", false)) model->to_channels_last();
    const auto name = action.at("as").get<std::string>();
    attribution_.forget_model(name);
    attribution_.model(*model, name);
    models_[name] = std::move(model);
  }

  void input(const json& action) {
    IValue value = make_input_tensor(action.at("value"), device_);
    attribution_.input(action.at("as").get<std::string>(), value);
    set(action, std::move(value));
  }

  void forward(const json& action) {
    Model& model = *named(models_, action.at("model").get<std::string>(), "model");
    std::vector<IValue> inputs;
    for (const json& given : action.at("inputs")) {
      if (given.contains("name")) {
        inputs.push_back(value(given, "name"));
      } else {
        inputs.emplace_back(make_input_tensor(given, device_));
        attribution_.input("input " + std::to_string(inputs.size()), inputs.back());
      }
    }
    const AutocastScope scope(autocast_);
    const c10::AutoGradMode mode(grad_);
    IValue result = model.run(std::move(inputs));
    attribution_.outputs(result, action.at("as").get<std::string>());
    set(action, std::move(result));
  }

  void loss(const json& action) {
    std::optional<std::string> on;
    if (action.contains("on")) on = action["on"].get<std::string>();
    const c10::AutoGradMode mode(grad_);
    IValue loss =
        find_loss(action.at("kind").get<std::string>()).apply(pick_tensor(value(action, "of"), on).tensor);
    attribution_.outputs(loss, action.at("as").get<std::string>());
    set(action, std::move(loss));
  }

  void backward(const json& action) {
    const auto claim = attribution_.gradients_at_exit();
    const at::Tensor of = pick_tensor(value(action, "of"), std::nullopt).tensor;
    if (of.numel() != 1) {
      of.backward();  // PyTorch says why it cannot
      return;
    }
    const at::Tensor gradient = at::ones_like(of, {}, at::MemoryFormat::Contiguous);
    attribution_.loss_gradient(gradient);
    of.backward(gradient);
  }

  void detach(const json& action) {
    set(action, map_tensors(value(action, "of"), [](const at::Tensor& tensor) { return tensor.detach(); }));
  }

  void make_optimizer(const json& action) {
    OptimizerOfModels made;
    for (const json& name : action.at("models")) {
      for (auto& parameter : named(models_, name.get<std::string>(), "model")->parameters())
        made.parameters.push_back(std::move(parameter));
    }
    const auto form = action.at("form").get<std::string>();
    made.foreach = form != "loop";
    made.kind = action.at("optimizer").get<std::string>();
    made.optimizer = find_optimizer(made.kind, form).make(made.parameters);
    const auto claim =
        attribution_.optimizer_state_at_exit(*made.optimizer);  // Adagrad has it from the start
    optimizers_[action.at("as").get<std::string>()] = std::move(made);
  }

  void step(const json& action) {
    auto& of = named(optimizers_, action.at("optimizer").get<std::string>(), "optimizer");
    const auto claim = attribution_.optimizer_state_at_exit(*of.optimizer);
    const capture::OperatorScope scope("Optimizer.step#" + of.kind);
    of.optimizer->step();
  }

  void zero_grad(const json& action) {
    auto& of = named(optimizers_, action.at("optimizer").get<std::string>(), "optimizer");
    if (action.value("keep", false)) {
      fill_grads_with_zeros(of.parameters, of.foreach);
    } else {
      of.optimizer->zero_grad();
    }
  }

  void keep(const json& action) { lists_[action.at("in").get<std::string>()].push_back(value(action, "of")); }

  void release(const json& action) {
    for (const json& entry : action.at("names")) {
      const auto name = entry.get<std::string>();
      if (models_.count(name) != 0) attribution_.forget_model(name);
      if (values_.erase(name) + models_.erase(name) + optimizers_.erase(name) + lists_.erase(name) == 0)
        named(values_, name, "value");
    }
  }

  void alloc(const json& action) {
    const auto bytes = action.at("bytes").get<std::int64_t>();
    set(action, at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(device_)));
  }

  void empty_cache(const json&) { c10::cuda::CUDACachingAllocator::emptyCache(); }

  void autocast(const json& action) {
    autocast_.reset();
    if (action.at("dtype").is_string()) autocast_ = action["dtype"].get<std::string>();
  }

  void grad(const json& action) { grad_ = action.at("on").get<bool>(); }

  void limit(const json& action) {
    std::optional<std::uint64_t> bytes;
    if (!action.at("bytes").is_null()) bytes = action["bytes"].get<std::uint64_t>();
    limit_allocator(bytes, device_.index());
  }

  const RunRequest& request_;
  capture::StreamWriter& writer_;
  RunState& state_;
  c10::Device device_;
  Attribution attribution_;
  std::map<std::string, std::unique_ptr<Model>> models_;
  std::map<std::string, OptimizerOfModels> optimizers_;
  std::map<std::string, IValue> values_;
  std::map<std::string, std::vector<IValue>> lists_;
  std::optional<std::string> autocast_;
  bool grad_ = true;
};

}  // namespace

void run_scenario(const RunRequest& request, capture::StreamWriter& writer, RunState& state) {
  const c10::Device device = open_device(request);
  writer.facts(device_facts(request, device));
  load_libraries(request.libraries);
  capture::Recorder::Options options;
  options.writer = &writer;
  options.device = device.index();
  state.recorder = &capture::Recorder::start(options);
  Scenario(request, writer, state, device).run();
  state.recorder->finish();
}

}  // namespace torchmem::engine
