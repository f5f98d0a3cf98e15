#include "engine/module_calls.h"

#include <unordered_map>

namespace torchmem::engine {
namespace {

using torch::jit::Block;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// Code can be recursive only through methods of one module.
constexpr std::size_t deepest = 200;

struct Known {
  Module module;
  std::string path;
};
using KnownValues = std::unordered_map<const Value*, Known>;

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

class Walk {
 public:
  void graph(torch::jit::Function& function, const Known& self, std::size_t depth) {
    auto* graph_function = torch::jit::tryToGraphFunction(function);
    if (graph_function == nullptr || depth > deepest) return;
    graph_function->ensure_defined();
    const auto graph = graph_function->graph();
    if (graph->inputs().empty()) return;
    KnownValues known;
    known.emplace(graph->inputs()[0], self);
    block(*graph->block(), known, depth);
  }

  std::vector<ModuleCall> calls;

 private:
  void block(Block& code, KnownValues& known, std::size_t depth) {
    for (Node* node : code.nodes()) {
      if (node->kind() == prim::GetAttr) attribute(*node, known);
      if (node->kind() == prim::CallMethod) call(*node, known, depth);
      for (Block* inner : node->blocks()) block(*inner, known, depth);
    }
  }

  static void attribute(const Node& node, KnownValues& known) {
    const auto owner = known.find(node.input());
    if (owner == known.end()) return;
    const std::string& name = node.s(torch::jit::attr::name);
    const auto value = owner->second.module.attr(name, c10::IValue());
    if (!value.isModule()) return;
    known.emplace(node.output(), Known{value.toModule(), joined(owner->second.path, name)});
  }

  void call(Node& node, const KnownValues& known, std::size_t depth) {
    const auto receiver = known.find(node.input(0));
    if (receiver == known.end()) return;
    const Known callee = receiver->second;
    const auto method = callee.module.find_method(node.s(torch::jit::attr::name));
    if (!method) return;
    // A module's call of its own method is a part of the call that is open.
    const bool is_own = node.input(0) == node.owningGraph()->inputs()[0];
    const std::size_t position = calls.size();
    if (!is_own) calls.push_back({callee.path, callee.module, &node, depth, true});
    graph(method->function(), callee, depth + 1);
    if (!is_own) calls[position].is_leaf = calls.size() == position + 1;
  }
};

}  // namespace

std::vector<ModuleCall> module_calls(const torch::jit::Method& method) {
  Walk walk;
  walk.graph(method.function(), {method.owner(), ""}, 1);
  return std::move(walk.calls);
}

}  // namespace torchmem::engine
