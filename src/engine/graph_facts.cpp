#include "engine/graph_facts.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <map>
#include <sstream>

#include "capture/dtype.h"
#include "capture/source_place.h"

namespace torchmem::engine {
namespace {

using nlohmann::json;

json tensor_facts(const at::Tensor& tensor) {
  return {{"dtype", capture::dtype_name(tensor.scalar_type())},
          {"shape", tensor.sizes().vec()},
          {"bytes", tensor.nbytes()}};
}

void add_constant_tensors(const torch::jit::Block* block, std::vector<at::Tensor>& tensors) {
  for (const torch::jit::Node* node : block->nodes()) {
    for (const torch::jit::Block* inner : node->blocks()) add_constant_tensors(inner, tensors);
    if (node->kind() != torch::jit::prim::Constant) continue;
    const auto value = torch::jit::toIValue(node->output());
    if (value && value->isTensor() && value->toTensor().defined()) tensors.push_back(value->toTensor());
  }
}

struct GraphFacts {
  std::map<std::string, std::int64_t> operators;
  json constant_tensors = json::array();
  json constant_devices = json::array();
  bool quantized = false;
};

void add_constant(const torch::jit::Node& node, GraphFacts& facts) {
  const auto value = torch::jit::toIValue(node.output());
  if (!value) return;
  if (value->isTensor() && value->toTensor().defined()) {
    json tensor = tensor_facts(value->toTensor());
    tensor["device"] = value->toTensor().device().str();
    facts.constant_tensors.push_back(std::move(tensor));
  } else if (value->isDevice()) {
    // The constant itself often stands outside the line that uses it.
    const auto& uses = node.output()->uses();
    const auto& place = uses.empty() ? node : *uses.front().user;
    facts.constant_devices.push_back({{"device", value->toDevice().str()}, {"line", source_line(place)}});
  }
}

void walk(at::ArrayRef<const torch::jit::Block*> blocks, GraphFacts& facts) {
  for (const auto* block : blocks) {
    for (const torch::jit::Node* node : block->nodes()) {
      if (node->kind() == torch::jit::prim::Constant) {
        add_constant(*node, facts);
      } else if (!node->kind().is_prim()) {
        ++facts.operators[node->kind().toQualString()];
        if (node->kind().ns().toUnqualString() == std::string("quantized")) facts.quantized = true;
      }
      walk(node->blocks(), facts);
    }
  }
}

bool has_calls(const torch::jit::Block* block) {
  for (const torch::jit::Node* node : block->nodes()) {
    if (node->kind() == torch::jit::prim::CallMethod || node->kind() == torch::jit::prim::CallFunction)
      return true;
    for (const torch::jit::Block* inner : node->blocks()) {
      if (has_calls(inner)) return true;
    }
  }
  return false;
}

}  // namespace

std::string source_line(const torch::jit::Node& node) {
  const auto place = capture::source_place(node.sourceRange());
  return place ? place->file + ":" + std::to_string(place->line) : "";
}

std::vector<at::Tensor> constant_tensors(const torch::jit::Method& method) {
  const auto graph = method.graph()->copy();
  inline_every_call(*graph);
  std::vector<at::Tensor> tensors;
  add_constant_tensors(std::as_const(*graph).block(), tensors);
  return tensors;
}

std::string signature_text(const torch::jit::Method& method) {
  const auto& schema = method.function().getSchema();
  std::ostringstream out;
  out << method.name() << '(';
  for (std::size_t i = 1; i < schema.arguments().size(); ++i) {
    const auto& argument = schema.arguments()[i];
    if (i > 1) out << ", ";
    out << argument.type()->annotation_str() << ' ' << argument.name();
    if (argument.default_value()) out << '=' << *argument.default_value();
  }
  out << ") -> ";
  out << (schema.returns().empty() ? "None" : schema.returns()[0].type()->annotation_str());
  return out.str();
}

json module_facts(const torch::jit::Module& module) {
  json methods = json::array();
  for (const auto& method : module.get_methods()) {
    methods.push_back({{"name", method.name()}, {"signature", signature_text(method)}});
  }
  json parameters = json::array();
  for (const auto& entry : module.named_parameters()) {
    json tensor = tensor_facts(entry.value);
    tensor["name"] = entry.name;
    tensor["requires_grad"] = entry.value.requires_grad();
    parameters.push_back(std::move(tensor));
  }
  json buffers = json::array();
  for (const auto& entry : module.named_buffers()) {
    json tensor = tensor_facts(entry.value);
    tensor["name"] = entry.name;
    buffers.push_back(std::move(tensor));
  }
  const bool frozen = parameters.empty();
  return {{"methods", std::move(methods)},
          {"parameter_tensors", std::move(parameters)},
          {"buffer_tensors", std::move(buffers)},
          {"training", module.is_training()},
          {"frozen", frozen}};
}

void inline_every_call(torch::jit::Graph& graph) {
  // With the executor's optimisation off, one pass inlines one level of calls.
  constexpr int deepest_calls = 100;
  for (int level = 0; level < deepest_calls && has_calls(graph.block()); ++level) torch::jit::Inline(graph);
}

json graph_facts(const torch::jit::Method& method) {
  const auto graph = method.graph()->copy();
  inline_every_call(*graph);
  GraphFacts facts;
  const torch::jit::Block* top = std::as_const(*graph).block();
  walk(at::ArrayRef<const torch::jit::Block*>(&top, 1), facts);
  return {{"operators", facts.operators},
          {"constant_tensors", std::move(facts.constant_tensors)},
          {"constant_devices", std::move(facts.constant_devices)},
          {"quantized", facts.quantized}};
}

}  // namespace torchmem::engine
