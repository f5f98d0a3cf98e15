// The rewrites of a model's code, on small models of their own: what is rewritten, and that it computes the
// same.

#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include "engine/checkpoint.h"
#include "engine/failure.h"
#include "engine/inplace.h"
#include "engine/module_calls.h"

namespace torchmem::engine {
namespace {

using torch::jit::Module;

Module leaf(const std::string& body) {
  Module module("__torch__.Leaf" + std::to_string(std::hash<std::string>()(body)));
  module.register_parameter("weight", at::rand({4}).add(0.5).requires_grad_(), /*is_buffer=*/false);
  module.define("def forward(self, x):\n    return " + body + "\n");
  return module;
}

// Of the same class, with parameters of its own that are leaves.
Module copy_of(const Module& module) {
  const at::NoGradGuard no_grad;
  Module copy = module.deepcopy();
  for (at::Tensor parameter : copy.parameters()) parameter.set_requires_grad(true);
  return copy;
}

// Two leaves of one class, one behind the other.
Module pair() {
  Module first = leaf("torch.tanh(x * self.weight)");
  Module module("__torch__.Pair");
  module.register_module("first", first);
  module.register_module("second", copy_of(first));
  module.define("def forward(self, x):\n    return self.second.forward(self.first.forward(x))\n");
  return module;
}

Module model() {
  Module block = pair();
  Module module("__torch__.Model");
  module.register_module("early", block);
  module.register_module("late", copy_of(block));
  module.define("def forward(self, x):\n    return self.late.forward(self.early.forward(x))\n");
  return module;
}

std::string graph_of(const Module& module) { return module.get_method("forward").graph()->toString(); }

// Result, then the gradients of input and parameters.
std::vector<at::Tensor> run(Module module, bool input_needs_grad) {
  at::Tensor x = at::arange(8, at::kFloat).reshape({2, 4}).div(8);
  x.set_requires_grad(input_needs_grad);
  for (at::Tensor parameter : module.parameters()) parameter.mutable_grad().reset();
  const at::Tensor y = module.forward({x}).toTensor();
  if (y.requires_grad()) y.sum().backward();
  std::vector<at::Tensor> result = {y.detach()};
  if (input_needs_grad) result.push_back(x.grad());
  for (const at::Tensor& parameter : module.parameters()) result.push_back(parameter.grad());
  return result;
}

void expect_same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].defined(), b[i].defined()) << i;
    EXPECT_TRUE(!a[i].defined() || a[i].equal(b[i])) << i;
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ModuleCalls, NamesEachByItsPath) {
  std::string paths;
  for (const auto& call : module_calls(model().get_method("forward")))
    paths += call.path + (call.is_leaf ? "! " : " ");
  EXPECT_EQ(paths, "early early.first! early.second! late late.first! late.second! ");
}

TEST(Checkpoint, ComputesTheSame) {
  for (const bool input_needs_grad : {true, false}) {
    at::manual_seed(0);
    const Module plain = model();
    const auto expected = run(plain, input_needs_grad);
    at::manual_seed(0);
    const Module rewritten = model();
    EXPECT_EQ(checkpoint_modules(rewritten.get_method("forward"), {"early", "late"}),
              (std::vector<std::string>{"early", "late"}));
    EXPECT_EQ(count(graph_of(rewritten), "torchmem::checkpoint"), 2u);
    expect_same(run(rewritten, input_needs_grad), expected);
  }
}

TEST(Checkpoint, LeavesOtherInstancesOfTheClass) {
  at::manual_seed(0);
  const auto expected = run(model(), true);
  at::manual_seed(0);
  const Module rewritten = model();
  checkpoint_modules(rewritten.get_method("forward"), {"late.first"});
  const std::string code = graph_of(rewritten.attr("late").toModule());
  EXPECT_EQ(count(code, "torchmem::is_checkpointed") + count(code, "torchmem::checkpoint"), 2u) << code;
  expect_same(run(rewritten, true), expected);
}

TEST(Checkpoint, AutoTakesTheClassNearestToTheRoot) {
  EXPECT_EQ(checkpoint_modules(model().get_method("forward"), {"auto"}),
            (std::vector<std::string>{"early", "late"}));
}

TEST(Checkpoint, RefusesWhatIsNoModule) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"middle"}, {"early", "early.first"}, {"auto", "early"}}) {
    try {
      checkpoint_modules(model().get_method("forward"), names);
      ADD_FAILURE() << names.front();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), FailureKind::bad_usage);
      EXPECT_NE(std::string(failure.what()).find("early, late"), std::string::npos) << failure.what();
    }
  }
}

struct InplaceCase {
  const char* body;
  bool recording;
  std::size_t rewritten;
};

TEST(Inplace, RewritesOnlyWhatNobodyElseSees) {
  const InplaceCase cases[] = {
      {"torch.relu(x * self.weight)", true, 1},
      {"torch.relu(x)", true, 0},                                      // the model's input
      {"torch.relu(torch.tanh(x * self.weight))", true, 1},            // tanh keeps its result
      {"torch.relu(torch.tanh(x * self.weight))", false, 2},           // for backward only
      {"torch.relu((x * self.weight).view(-1))", false, 0},            // a view
      {"torch.relu((x * self.weight).add_(1))", true, 1},              // in place on what is its own
      {"torch.relu(x.add_(1))", true, 0},                              // and on what is not
      {"torch.stack([torch.relu(z) + z for z in [x * 2]])", true, 0},  // used again
  };
  for (const auto& test : cases) {
    const Module plain = leaf(test.body);
    const Module rewritten = copy_of(plain);
    const auto facts = make_activations_inplace(rewritten.get_method("forward"), test.recording);
    EXPECT_EQ(facts["rewritten"], test.rewritten) << test.body << facts.dump();
    if (test.recording) expect_same(run(rewritten, false), run(plain, false));
  }
}

TEST(Inplace, SeesAcrossModulesAndIntoCheckpoints) {
  at::manual_seed(0);
  const auto expected = run(model(), false);
  at::manual_seed(0);
  const Module rewritten = model();
  checkpoint_modules(rewritten.get_method("forward"), {"late"});
  EXPECT_EQ(make_activations_inplace(rewritten.get_method("forward"), true)["rewritten"], 4u);
  expect_same(run(rewritten, false), expected);
}

}  // namespace
}  // namespace torchmem::engine
