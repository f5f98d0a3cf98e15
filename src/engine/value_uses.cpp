#include "engine/value_uses.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/graph_facts.h"

namespace torchmem::engine {
namespace {

using torch::jit::Node;
using torch::jit::Value;

constexpr std::array<const char*, 8> reads = {
    "aten::item",        "aten::Int",           "aten::Bool",           "aten::Float",
    "aten::IntImplicit", "aten::FloatImplicit", "aten::ScalarImplicit", "aten::is_nonzero"};

bool reads_a_tensor(const Node* node) {
  const std::string name = node->kind().toQualString();
  return std::find(reads.begin(), reads.end(), name) != reads.end() && !node->inputs().empty() &&
         node->input(0)->type()->isSubtypeOf(*c10::TensorType::get());
}

// The stronger of two: what runs on matters most.
const std::string& stronger(const std::string& a, const std::string& b) {
  static constexpr std::array<const char*, 3> order = {"loop", "size", "branch"};
  for (const char* word : order) {
    if (a == word) return a;
    if (b == word) return b;
  }
  return a;
}

bool is_size_like(const Value* value) {
  const auto& type = value->type();
  if (type->kind() == c10::TypeKind::IntType) return true;
  return type->kind() == c10::TypeKind::ListType &&
         type->expectRef<c10::ListType>().getElementType()->kind() == c10::TypeKind::IntType;
}

bool has_tensor_output(const Node* node) {
  return std::any_of(node->outputs().begin(), node->outputs().end(),
                     [](const Value* value) { return value->type()->isSubtypeOf(*c10::TensorType::get()); });
}

// Follows a number through the graph.
std::string follow(const Value* value, std::unordered_set<const Value*>& seen) {
  std::string decision;
  if (!seen.insert(value).second) return decision;
  for (const auto& use : value->uses()) {
    const Node* user = use.user;
    if (user->kind() == c10::prim::If) {
      decision = stronger(decision, "branch");
      for (const Value* output : user->outputs()) decision = stronger(decision, follow(output, seen));
    } else if (user->kind() == c10::prim::Loop && use.offset < 2) {
      decision = stronger(decision, "loop");
    } else if (user->kind() == c10::prim::Return && user->owningBlock()->owningNode() != nullptr) {
      const Node* owner = user->owningBlock()->owningNode();
      const bool is_loop = owner->kind() == c10::prim::Loop;
      if (is_loop && use.offset == 0) {
        decision = stronger(decision, "loop");
      } else if (const auto at = use.offset - (is_loop ? 1 : 0); at < owner->outputs().size()) {
        decision = stronger(decision, follow(owner->outputs()[at], seen));
      }
    } else if (has_tensor_output(user)) {
      if (is_size_like(value)) decision = stronger(decision, "size");
    } else {
      for (const Value* output : user->outputs()) decision = stronger(decision, follow(output, seen));
    }
  }
  return decision;
}

void look_at(const torch::jit::Block* block, std::map<std::string, std::string>& lines) {
  for (const Node* node : block->nodes()) {
    for (const auto* inner : node->blocks()) look_at(inner, lines);
    if (!reads_a_tensor(node)) continue;
    std::unordered_set<const Value*> seen;
    const std::string decision = follow(node->output(), seen);
    if (decision.empty()) continue;
    std::string& known = lines[source_line(*node)];
    known = stronger(known, decision);
  }
}

}  // namespace

std::function<std::map<std::string, std::string>()> lines_that_decide(const torch::jit::Module& module) {
  std::vector<std::weak_ptr<torch::jit::Graph>> graphs;
  for (const auto& method : module.get_methods()) graphs.push_back(method.graph());
  return [graphs] {
    std::map<std::string, std::string> lines;
    for (const auto& weak : graphs) {
      const auto known = weak.lock();
      if (!known) continue;
      const auto graph = known->copy();
      inline_every_call(*graph);
      look_at(graph->block(), lines);
    }
    return lines;
  };
}

}  // namespace torchmem::engine
