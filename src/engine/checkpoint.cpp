#include "engine/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/checkpoint_op.h"
#include "engine/failure.h"
#include "engine/module_calls.h"

namespace torchmem::engine {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

constexpr const char* auto_name = "auto";
constexpr std::size_t most_names_shown = 24;

// "Bottleneck" of "__torch__.torchvision.models.resnet.___torch_mangle_5.Bottleneck".
std::string class_name(const torch::jit::Module& module) { return module.type()->name()->name(); }

bool is_inside(const std::string& path, const std::string& outer) {
  return path.size() > outer.size() && path.compare(0, outer.size(), outer) == 0 && path[outer.size()] == '.';
}

std::string names_of(const std::vector<ModuleCall>& calls) {
  std::string text;
  std::size_t shown = 0;
  std::set<std::string> said;
  for (const auto& call : calls) {
    if (call.is_leaf || !said.insert(call.path).second) continue;
    if (++shown > most_names_shown) return text + ", ...";
    text += (text.empty() ? "" : ", ") + call.path;
  }
  return text;
}

[[noreturn]] void refuse(const std::string& problem, const std::vector<ModuleCall>& calls) {
  const std::string names = names_of(calls);
  throw Failure(FailureKind::bad_usage,
                "Cannot checkpoint " + problem + ".\n" +
                    (names.empty() ? "The model calls no module that calls others: there is nothing to name."
                                   : "Modules that can be named: " + names + "."));
}

// The paths that stand for "auto"; none where no class is called twice.
std::vector<std::string> choose(const std::vector<ModuleCall>& calls) {
  std::size_t leaves = 0;
  std::map<std::string, std::vector<std::string>> classes;
  for (const auto& call : calls) {
    if (call.is_leaf) {
      ++leaves;
      continue;
    }
    auto& paths = classes[class_name(call.module)];
    const bool nested = std::any_of(paths.begin(), paths.end(), [&](const std::string& outer) {
      return is_inside(call.path, outer) || call.path == outer;
    });
    if (!nested) paths.push_back(call.path);
  }
  const double wanted = std::log(std::sqrt(static_cast<double>(std::max<std::size_t>(leaves, 1))));
  std::vector<std::string> best;
  double best_distance = 0;
  for (const auto& [name, paths] : classes) {
    if (paths.size() < 2) continue;
    const double distance = std::abs(std::log(static_cast<double>(paths.size())) - wanted);
    // Of a block and a part of it, as many of each, the block: it keeps less.
    const bool holds_best =
        !best.empty() && distance == best_distance && is_inside(best.front(), paths.front());
    if (!best.empty() && distance >= best_distance && !holds_best) continue;
    best = paths;
    best_distance = distance;
  }
  return best;
}

std::vector<std::string> settle(const std::vector<std::string>& names, const std::vector<ModuleCall>& calls) {
  if (names.size() == 1 && names.front() == auto_name) {
    auto chosen = choose(calls);
    if (chosen.empty())
      refuse("\"auto\": no class of module that calls others is called at least twice", calls);
    return chosen;
  }
  for (const auto& name : names) {
    if (name == auto_name) refuse("\"auto\" together with names", calls);
    const bool called =
        std::any_of(calls.begin(), calls.end(), [&](const ModuleCall& call) { return call.path == name; });
    if (!called) refuse("\"" + name + "\": the model calls no such module", calls);
    for (const auto& outer : names) {
      if (is_inside(name, outer)) refuse("\"" + name + "\" inside \"" + outer + "\"", calls);
    }
  }
  std::vector<std::string> paths;
  for (const auto& call : calls) {
    const bool named = std::find(names.begin(), names.end(), call.path) != names.end();
    if (named && std::find(paths.begin(), paths.end(), call.path) == paths.end()) paths.push_back(call.path);
  }
  return paths;
}

Node* make_call(Graph& graph, Node& call) {
  Node* node = graph.create(checkpoint_symbol(), call.inputs(), 1);
  node->s_(torch::jit::attr::name, call.s(torch::jit::attr::name));
  node->output()->setType(call.output()->type());
  node->setSourceRange(call.sourceRange());
  return node;
}

// Instances that were not marked run the call as it was.
Node* make_choice(Graph& graph, Node& call) {
  Node* check = graph.create(is_checkpointed_symbol(), {call.input(0)}, 1);
  check->output()->setType(c10::BoolType::get());
  check->setSourceRange(call.sourceRange());
  check->insertBefore(&call);
  Node* choice = graph.create(prim::If, {check->output()}, 1);
  choice->setSourceRange(call.sourceRange());
  choice->output()->setType(call.output()->type());
  Block* marked = choice->addBlock();
  Node* checkpointed = make_call(graph, call);
  marked->appendNode(checkpointed);
  marked->registerOutput(checkpointed->output());
  Block* plain = choice->addBlock();
  Node* copy = graph.createClone(&call, [](Value* value) { return value; });
  plain->appendNode(copy);
  plain->registerOutput(copy->output());
  return choice;
}

void rewrite(Node& call, bool always) {
  Graph& graph = *call.owningGraph();
  Node* replacement = always ? make_call(graph, call) : make_choice(graph, call);
  replacement->insertBefore(&call);
  call.output()->replaceAllUsesWith(replacement->output());
  call.destroy();
}

std::size_t count_operators(const Block& block) {
  std::size_t count = 0;
  for (const Node* node : block.nodes()) {
    if (node->kind().is_aten()) ++count;
    for (const Block* inner : node->blocks()) count += count_operators(*inner);
  }
  return count;
}

std::size_t operators_of(const ModuleCall& call) {
  const auto method = call.module.find_method(call.node->s(torch::jit::attr::name));
  const auto graph = method ? method->graph() : nullptr;
  return graph ? count_operators(*graph->block()) : 0;
}

}  // namespace

std::vector<std::string> checkpoint_modules(const torch::jit::Method& method,
                                            const std::vector<std::string>& names) {
  const auto calls = module_calls(method);
  const auto paths = settle(names, calls);
  register_checkpoint_operators();
  std::map<Node*, bool> nodes;  // and whether all that come there are marked
  for (const auto& call : calls) {
    const bool wanted = std::find(paths.begin(), paths.end(), call.path) != paths.end();
    if (wanted) mark_checkpointed(call.module._ivalue(), call.path);
    const auto [entry, is_new] = nodes.try_emplace(call.node, wanted);
    if (!is_new && entry->second != wanted) entry->second = false;
    if (!wanted && is_new) entry->second = false;
  }
  std::set<Node*> touched;
  for (const auto& call : calls) {
    if (std::find(paths.begin(), paths.end(), call.path) == paths.end()) continue;
    if (touched.insert(call.node).second) rewrite(*call.node, nodes.at(call.node));
  }
  return paths;
}

std::vector<CheckpointCandidate> checkpoint_candidates(const torch::jit::Method& method) {
  const auto calls = module_calls(method);
  const auto automatic = choose(calls);
  std::vector<CheckpointCandidate> candidates;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& call = calls[i];
    std::size_t operators = operators_of(call);
    for (std::size_t j = i + 1; j < calls.size() && calls[j].depth > call.depth; ++j)
      operators += operators_of(calls[j]);
    const bool again = std::any_of(candidates.begin(), candidates.end(),
                                   [&](const CheckpointCandidate& seen) { return seen.path == call.path; });
    if (again) continue;
    const bool chosen = std::find(automatic.begin(), automatic.end(), call.path) != automatic.end();
    candidates.push_back({call.path, class_name(call.module), operators, call.is_leaf, chosen});
  }
  return candidates;
}

}  // namespace torchmem::engine
