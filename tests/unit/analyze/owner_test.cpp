#include "torchmem/owner.h"

#include <gtest/gtest.h>

namespace torchmem {
namespace {

TEST(Owner, OfOurOwnRuns) {
  Owner owner = owner_of({{"<op>", 0, "aten::empty"},
                          {"<op>", 0, "aten::convolution"},
                          {"<op>", 0, "aten::conv2d"},
                          {"<module>", 0, "layer1.0.conv1 (Conv2d)"},
                          {"/venv/lib/python3.11/site-packages/torch/nn/modules/conv.py", 543, "forward"},
                          {"/home/me/model.py", 27, "forward"},
                          {"/home/me/train.py", 90, "<module>"}});
  EXPECT_EQ(owner.op, "aten::conv2d");
  EXPECT_EQ(owner.module, "layer1.0.conv1");
  EXPECT_EQ(owner.module_type, "Conv2d");
  EXPECT_EQ(owner.line, "/home/me/model.py:27");
}

TEST(Owner, OfABackwardNode) {
  Owner owner = owner_of({{"<op>", 0, "aten::convolution_backward"},
                          {"<op>", 0, "ConvolutionBackward0"},
                          {"<op>", 0, "autograd::engine::evaluate_function: ConvolutionBackward0"},
                          {"<module>", 0, "conv (Conv2d)"},
                          {"model.py", 3, "forward"}});
  EXPECT_EQ(owner.op, "ConvolutionBackward0");
  EXPECT_EQ(owner.module, "conv");
  EXPECT_EQ(owner.line, "model.py:3");
}

TEST(Owner, WhatTheStackDoesNotSayIsUnknown) {
  Owner owner = owner_of({});
  EXPECT_EQ(owner.op, "");
  EXPECT_EQ(owner.module, "");
  EXPECT_EQ(owner.module_type, "");
  EXPECT_EQ(owner.line, "");
  owner = owner_of({{"<module>", 0, "odd name"}, {"", 0, "forward"}});
  EXPECT_EQ(owner.module, "odd name");
  EXPECT_EQ(owner.module_type, "");
  EXPECT_EQ(owner.line, "");
}

TEST(Owner, PyTorchsOwnFramesAreNoLine) {
  for (const char* file :
       {"/venv/lib/python3.11/site-packages/torch/nn/functional.py", "torch/nn/modules/linear.py",
        "/usr/lib/python3/dist-packages/torch/_tensor.py", "code/__torch__/torch/nn/modules/conv.py",
        "<string>", "<frozen importlib._bootstrap>", "<eval_with_key>.3"}) {
    EXPECT_EQ(owner_of({{file, 7, "f"}}).line, "") << file;
    EXPECT_EQ(owner_of({{file, 7, "f"}, {"mine.py", 2, "g"}}).line, "mine.py:2") << file;
  }
  EXPECT_EQ(owner_of({{"/site-packages/torchvision/models/resnet.py", 92, "forward"}}).line,
            "/site-packages/torchvision/models/resnet.py:92");
  EXPECT_EQ(owner_of({{"/home/me/torch/model.py", 5, "forward"}}).line, "/home/me/torch/model.py:5");
  EXPECT_EQ(owner_of({{"<stdin>", 1, "<module>"}}).line, "<stdin>:1");
  EXPECT_EQ(owner_of({{"<ipython-input-3-ab>", 4, "f"}}).line, "<ipython-input-3-ab>:4");
}

TEST(Owner, OfAProgramsCompiledFrames) {
  Owner owner = owner_of({{"CUDACachingAllocator.cpp", 0, "c10::cuda::malloc(unsigned long)"},
                          {"??", 0, "at::_ops::empty_memory_format::redispatch(c10::DispatchKeySet)"},
                          {"??", 0, "at::_ops::empty_memory_format::call(c10::ArrayRef<long>)"},
                          {"??", 0, "at::_ops::conv2d::call(at::Tensor const&)"},
                          {"python_torch_functions.cpp", 0, "torch::autograd::THPVariable_conv2d(_object*)"},
                          {"/lib/libc.so.6", 0, "start"},
                          {"train.py", 12, "main"}});
  EXPECT_EQ(owner.op, "at::_ops::conv2d");
  EXPECT_EQ(owner.line, "train.py:12");
  owner = owner_of({{"??", 0, "at::_ops::mm::call(at::Tensor const&)"},
                    {"??", 0, "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)"}});
  EXPECT_EQ(owner.op, "MmBackward0");
}

TEST(Owner, OfAThreadThatOnlyRunsBackward) {
  const std::vector<Frame> thread = {
      {"??", 0, "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)"},
      {"??", 0, "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)"},
      {"pthread_create.c", 442, "start_thread"},
      {"../sysdeps/unix/sysv/linux/x86_64/clone3.S", 81, "clone3"}};
  const auto line_in = [&](const std::string& symbol) {
    std::vector<Frame> stack = {{"??", 0, symbol}};
    stack.insert(stack.end(), thread.begin(), thread.end());
    return owner_of(stack).line;
  };
  EXPECT_EQ(line_in("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)"),
            "(backward) AddmmBackward0");
  EXPECT_EQ(line_in("torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"),
            "(backward) torch::autograd::AccumulateGrad");
  EXPECT_EQ(line_in("void torch::autograd::validate_outputs_impl(at::Tensor)"), "(backward)");
  EXPECT_EQ(owner_of({{"clone3.S", 81, "clone3"}}).line, "") << "a thread of somebody else's";
}

TEST(Owner, BackwardOnTheCallingThreadHasItsLine) {
  Owner owner =
      owner_of({{"??", 0, "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)"},
                {"??", 0, "torch::autograd::Engine::evaluate_function(int)"},
                {"/site-packages/torch/_tensor.py", 631, "backward"},
                {"train.py", 5, "<module>"}});
  EXPECT_EQ(owner.op, "MmBackward0");
  EXPECT_EQ(owner.line, "train.py:5");
}

}  // namespace
}  // namespace torchmem
