#include "engine/inplace.h"

#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/checkpoint_op.h"
#include "engine/graph_facts.h"

namespace torchmem::engine {
namespace {

using nlohmann::json;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// With an in-place form of the same arguments, called as the operator is with "_" behind.
const std::set<std::string> activations = {
    "aten::relu", "aten::relu6", "aten::hardtanh",  "aten::leaky_relu",  "aten::elu",
    "aten::selu", "aten::celu",  "aten::sigmoid",   "aten::tanh",        "aten::silu",
    "aten::gelu", "aten::mish",  "aten::hardswish", "aten::hardsigmoid", "aten::threshold"};

// Whose backward does not need what they gave (tools/autograd/derivatives.yaml).
const std::set<std::string> do_not_keep_their_result = {"aten::add",
                                                        "aten::sub",
                                                        "aten::mul",
                                                        "aten::rsub",
                                                        "aten::linear",
                                                        "aten::addmm",
                                                        "aten::mm",
                                                        "aten::bmm",
                                                        "aten::matmul",
                                                        "aten::baddbmm",
                                                        "aten::conv1d",
                                                        "aten::conv2d",
                                                        "aten::conv3d",
                                                        "aten::conv_transpose1d",
                                                        "aten::conv_transpose2d",
                                                        "aten::conv_transpose3d",
                                                        "aten::_convolution",
                                                        "aten::convolution",
                                                        "aten::batch_norm",
                                                        "aten::layer_norm",
                                                        "aten::group_norm",
                                                        "aten::instance_norm",
                                                        "aten::cat",
                                                        "aten::stack",
                                                        "aten::avg_pool2d",
                                                        "aten::adaptive_avg_pool2d",
                                                        "aten::max_pool2d",
                                                        "aten::embedding",
                                                        "aten::upsample_nearest2d",
                                                        "aten::upsample_bilinear2d"};

std::string name_of(const Node& node) { return node.kind().toQualString(); }

bool is_in_place(const Node& node) {
  const std::string name = name_of(node);
  return node.kind().is_aten() && name.back() == '_' && !node.inputs().empty();
}

// Whether the operator's only result is a tensor of its own, by its schema.
bool makes_new_tensor(const Node& node) {
  if (!node.kind().is_aten() || node.outputs().size() != 1) return false;
  const auto* schema = node.maybeSchema();
  if (schema == nullptr || schema->returns().size() != 1) return false;
  return schema->returns()[0].alias_info() == nullptr &&
         schema->returns()[0].type()->kind() == c10::TypeKind::TensorType;
}

// Views in disguise: their schema does not say that they may give their input back.
bool may_return_input(const Node& node) {
  static const std::set<std::string> names = {
      "aten::dropout", "aten::feature_dropout", "aten::contiguous", "aten::to",
      "aten::reshape", "aten::flatten",         "aten::type_as",    "aten::alpha_dropout",
      "aten::einsum",  "aten::atleast_1d",      "aten::atleast_2d", "aten::atleast_3d"};
  return names.count(name_of(node)) != 0;
}

// Whether backward needs what the operator gave, as far as is known.
bool may_keep_its_result(const Node& maker) {
  std::string name = name_of(maker);
  if (is_in_place(maker)) name.pop_back();
  return do_not_keep_their_result.count(name) == 0;
}

// Why the tensor may not be written over; null when it may.
const char* objection(const Value& value, const Node& user, bool recording) {
  const Node& maker = *value.node();
  if (maker.kind() == prim::Param) return "its input is the model's input";
  if (value.uses().size() != 1) return "its input is used elsewhere too";
  if (maker.owningBlock() != user.owningBlock()) return "its input is made in another branch";
  const bool kept = recording && may_keep_its_result(maker);
  constexpr const char* kept_reason = "its input is kept for backward by the operator that made it";
  if (is_in_place(maker)) return kept ? kept_reason : objection(*maker.input(0), maker, recording);
  if (!makes_new_tensor(maker) || may_return_input(maker)) return "its input may share another's memory";
  if (kept) return kept_reason;
  return nullptr;
}

class Rewrite {
 public:
  explicit Rewrite(bool recording) : recording_(recording) {}

  void block(Block& code) {
    for (auto it = code.nodes().begin(); it != code.nodes().end();) {
      Node* node = *it++;
      for (Block* inner : node->blocks()) block(*inner);
      if (activations.count(name_of(*node)) != 0) {
        activation(*node);
      } else if (is_in_place(*node)) {
        const std::string name = name_of(*node);
        if (activations.count(name.substr(0, name.size() - 1)) != 0) ++already_;
      }
    }
  }

  json facts() const { return {{"rewritten", rewritten_}, {"in_place_already", already_}, {"left", left_}}; }

 private:
  void activation(Node& node) {
    if (const char* why = objection(*node.input(0), node, recording_)) {
      left_.push_back({{"operator", name_of(node)}, {"line", source_line(node)}, {"why", why}});
      return;
    }
    Node* in_place =
        node.owningGraph()->create(c10::Symbol::fromQualString(name_of(node) + "_"), node.inputs(), 1);
    in_place->copyMetadata(&node);
    in_place->output()->copyMetadata(node.output());
    in_place->insertBefore(&node);
    node.output()->replaceAllUsesWith(in_place->output());
    node.destroy();
    ++rewritten_;
  }

  bool recording_;
  std::size_t rewritten_ = 0;
  std::size_t already_ = 0;
  json left_ = json::array();
};

// The graphs that the checkpoint operators in a block call.
void checkpointed_graphs(const Block& block, std::vector<std::shared_ptr<Graph>>& graphs) {
  for (const Node* node : block.nodes()) {
    for (const Block* inner : node->blocks()) checkpointed_graphs(*inner, graphs);
    if (node->kind() != checkpoint_symbol()) continue;
    const auto type = node->input(0)->type()->cast<c10::ClassType>();
    auto* function = type ? type->findMethod(node->s(torch::jit::attr::name)) : nullptr;
    auto* graph_function = function ? torch::jit::tryToGraphFunction(*function) : nullptr;
    if (graph_function == nullptr) continue;
    const auto graph = graph_function->graph();
    if (std::find(graphs.begin(), graphs.end(), graph) == graphs.end()) graphs.push_back(graph);
  }
}

}  // namespace

json make_activations_inplace(const torch::jit::Method& method, bool recording) {
  Rewrite rewrite(recording);
  std::vector<std::shared_ptr<Graph>> graphs = {method.graph()};
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    std::shared_ptr<Graph> graph = graphs[i];  // a copy: the list grows
    inline_every_call(*graph);
    torch::jit::ConstantPropagationImmutableTypes(graph);
    rewrite.block(*graph->block());
    checkpointed_graphs(*graph->block(), graphs);
  }
  return rewrite.facts();
}

}  // namespace torchmem::engine
