#include "engine/checkpoint_op.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Generator.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "capture/module_scope.h"
#include "engine/ivalue_tensors.h"

namespace torchmem::engine {
namespace {

using at::Tensor;
using c10::IValue;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The modules that were marked, with their paths; never destroyed, as the models are not.
std::map<const c10::ivalue::Object*, std::string>& marked() {
  static auto* modules = new std::map<const c10::ivalue::Object*, std::string>;
  return *modules;
}

struct GeneratorState {
  at::Generator generator;
  Tensor state;
};

GeneratorState state_of(c10::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return {generator, generator.get_state()};
}

void restore(const std::vector<GeneratorState>& states) {
  for (auto [generator, state] : states) {
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }
}

std::vector<c10::Device> generator_devices(const variable_list& inputs) {
  std::vector<c10::Device> devices = {c10::Device(c10::kCPU)};
  for (const auto& input : inputs) {
    if (!input.defined() || !input.is_cuda()) continue;
    if (std::find(devices.begin(), devices.end(), input.device()) == devices.end())
      devices.push_back(input.device());
  }
  return devices;
}

std::vector<GeneratorState> states_of(const std::vector<c10::Device>& devices) {
  std::vector<GeneratorState> states;
  for (const auto device : devices) states.push_back(state_of(device));
  return states;
}

// What autocast was set to on a thread.
struct Autocast {
  bool enabled = at::autocast::is_autocast_enabled(at::kCUDA);
  at::ScalarType dtype = at::autocast::get_autocast_dtype(at::kCUDA);
  bool cache = at::autocast::is_autocast_cache_enabled();

  void set() const {
    at::autocast::set_autocast_enabled(at::kCUDA, enabled);
    at::autocast::set_autocast_dtype(at::kCUDA, dtype);
    at::autocast::set_autocast_cache_enabled(cache);
  }
};

// For the second run: the forward's autocast and generators, in a scope.
class AsInForward {
 public:
  AsInForward(const Autocast& autocast, const std::vector<GeneratorState>& generators) {
    for (const auto& entry : generators) saved_.push_back(state_of(entry.generator.device()));
    restore(generators);
    autocast.set();
    at::autocast::increment_nesting();
  }
  ~AsInForward() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    before_.set();
    restore(saved_);
  }
  AsInForward(const AsInForward&) = delete;
  AsInForward& operator=(const AsInForward&) = delete;

 private:
  Autocast before_;
  std::vector<GeneratorState> saved_;
};

IValue run_module(const torch::jit::Module& module, const std::string& method,
                  std::vector<IValue> arguments) {
  const auto path = marked().find(module._ivalue().get());
  const capture::ModuleScope scope(path == marked().end() ? "" : path->second, module.type()->name()->name());
  return module.get_method(method)(std::move(arguments));
}

// The call without its tensors, which autograd keeps.
struct Call {
  torch::jit::Module module;
  std::string method;
  std::vector<IValue> arguments;  // each tensor in them is undefined
  Autocast autocast;
  std::vector<GeneratorState> generators;
  IValue result;  // of the first run, its tensors undefined

  IValue run(const variable_list& tensors) const {
    std::vector<IValue> filled;
    std::size_t next = 0;
    for (const auto& argument : arguments) {
      filled.push_back(map_tensors(argument, [&](const Tensor&) { return tensors[next++]; }));
    }
    return run_module(module, method, std::move(filled));
  }
};

variable_list take_tensors(IValue& value) {
  variable_list tensors;
  value = map_tensors(value, [&](const Tensor& tensor) {
    tensors.push_back(tensor);
    return Tensor();
  });
  return tensors;
}

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  // `anchor` is there only to make the result require gradients.
  static variable_list forward(AutogradContext* context, const std::shared_ptr<Call>& call,
                               at::TensorList inputs, const std::optional<Tensor>& /*anchor*/) {
    const variable_list kept = inputs.vec();
    call->generators = states_of(generator_devices(kept));
    context->saved_data["call"] = IValue::make_capsule(c10::make_intrusive<Holder>(call));
    context->save_for_backward(kept);
    call->result = call->run(kept);
    return take_tensors(call->result);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto holder = context->saved_data["call"].toCapsule();
    const Call& call = *static_cast<const Holder&>(*holder).call;
    variable_list inputs = context->get_saved_variables();
    for (auto& input : inputs) {
      if (!input.defined()) continue;
      const bool needs = input.requires_grad();
      input = input.detach();
      input.set_requires_grad(needs);
    }
    variable_list outputs;
    {
      const c10::AutoGradMode recording(true);
      const AsInForward scope(call.autocast, call.generators);
      IValue result = call.run(inputs);
      outputs = take_tensors(result);
    }
    variable_list roots;
    variable_list root_gradients;
    for (std::size_t i = 0; i < outputs.size() && i < gradients.size(); ++i) {
      if (!outputs[i].defined() || !outputs[i].requires_grad() || !gradients[i].defined()) continue;
      roots.push_back(outputs[i]);
      root_gradients.push_back(gradients[i]);
    }
    if (!roots.empty()) torch::autograd::backward(roots, root_gradients);
    variable_list results(1);  // for the call itself
    for (const auto& input : inputs) results.push_back(input.defined() ? input.grad() : Tensor());
    results.emplace_back();  // for the anchor
    return results;
  }

  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<Call> held) : call(std::move(held)) {}
    std::shared_ptr<Call> call;
  };
};

// When no input requires a gradient but the module's parameters do.
std::optional<Tensor> anchor_for(const torch::jit::Module& module, const variable_list& inputs) {
  for (const auto& input : inputs) {
    if (input.defined() && input.requires_grad()) return std::nullopt;
  }
  for (const at::Tensor& parameter : module.parameters()) {
    if (parameter.requires_grad())
      return at::empty({0}, at::TensorOptions().dtype(at::kFloat)).requires_grad_();
  }
  return std::nullopt;
}

void run_checkpoint(const std::string& method, std::size_t argument_count, torch::jit::Stack& stack) {
  std::vector<IValue> values = torch::jit::pop(stack, argument_count);
  const torch::jit::Module module = values.front().toModule();
  values.erase(values.begin());
  if (!c10::GradMode::is_enabled()) {  // nothing would be kept
    stack.push_back(run_module(module, method, std::move(values)));
    return;
  }
  auto call = std::make_shared<Call>(Call{module, method, std::move(values), {}, {}, {}});
  variable_list inputs;
  for (auto& argument : call->arguments) {
    for (auto& tensor : take_tensors(argument)) inputs.push_back(std::move(tensor));
  }
  const std::optional<Tensor> anchor = anchor_for(module, inputs);
  const variable_list outputs = Checkpoint::apply(call, at::TensorList(inputs), anchor);
  inputs.clear();
  std::size_t next = 0;
  stack.push_back(map_tensors(call->result, [&](const Tensor&) { return outputs[next++]; }));
}

torch::jit::Operation make_checkpoint(const torch::jit::Node* node) {
  return [method = node->s(torch::jit::attr::name), count = node->inputs().size()](torch::jit::Stack& stack) {
    run_checkpoint(method, count, stack);
  };
}

torch::jit::Operation make_is_checkpointed(const torch::jit::Node*) {
  return [](torch::jit::Stack& stack) {
    const auto module = torch::jit::pop(stack).toObject();
    stack.emplace_back(marked().count(module.get()) != 0);
  };
}

}  // namespace

c10::Symbol checkpoint_symbol() { return c10::Symbol::fromQualString("torchmem::checkpoint"); }

c10::Symbol is_checkpointed_symbol() { return c10::Symbol::fromQualString("torchmem::is_checkpointed"); }

void register_checkpoint_operators() {
  static const torch::jit::RegisterOperators operators(
      {torch::jit::Operator(checkpoint_symbol(), make_checkpoint, c10::AliasAnalysisKind::CONSERVATIVE),
       torch::jit::Operator(is_checkpointed_symbol(), make_is_checkpointed,
                            c10::AliasAnalysisKind::CONSERVATIVE)});
}

void mark_checkpointed(const c10::intrusive_ptr<c10::ivalue::Object>& module, const std::string& path) {
  marked()[module.get()] = path;
}

}  // namespace torchmem::engine
