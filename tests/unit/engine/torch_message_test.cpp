#include "engine/torch_message.h"

#include <gtest/gtest.h>

namespace torchmem::engine {
namespace {

// The form in which the interpreter of PyTorch 2.11 wraps an error of a model that has debug files.
constexpr const char* wrapped = R"(The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__/models.py", line 9, in forward
    x: Tensor) -> Tensor:
    layer = self.layer
    return (layer).forward(x, )
            ~~~~~~~~~~~~~~ <--- HERE
  File "code/__torch__/torch/nn/modules/linear.py", line 14, in forward
    weight = self.weight
    return torch.linear(input, weight, bias)
           ~~~~~~~~~~~~ <--- HERE

Traceback of TorchScript, original code (most recent call last):
  File "/home/me/models.py", line 5, in forward
    def forward(self, x):
        return self.layer(x)
               ~~~~~~~~~~ <--- HERE
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward
        return F.linear(input, self.weight, self.bias)
               ~~~~~~~~ <--- HERE
RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x64 and 784x4096)
)";

TEST(TorchMessage, FindsTheLineOfTheModelsOwnCode) {
  const TorchMessage message = parse_torch_message(wrapped);
  EXPECT_EQ(message.text, "mat1 and mat2 shapes cannot be multiplied (2x64 and 784x4096)");
  EXPECT_EQ(message.place(), "/home/me/models.py:5: return self.layer(x)");
}

TEST(TorchMessage, TakesPyTorchsLineWhenThereIsNoOther) {
  const TorchMessage message = parse_torch_message(
      "Traceback of TorchScript, original code (most recent call last):\n"
      "  File \"/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py\", line 134, in forward\n"
      "        return F.linear(input, self.weight, self.bias)\n"
      "               ~~~~~~~~ <--- HERE\n"
      "RuntimeError: no\n");
  EXPECT_EQ(message.line, 134);
  EXPECT_EQ(message.text, "no");
}

TEST(TorchMessage, LeavesCppFramesOut) {
  const TorchMessage message = parse_torch_message(
      "Expected all tensors to be on the same device\n"
      "Exception raised from compute_types at TensorIterator.cpp:484 (most recent call first):\n"
      "frame #0: c10::Error::Error + 0x80 (0x7f in libc10.so)\n");
  EXPECT_EQ(message.text, "Expected all tensors to be on the same device");
  EXPECT_EQ(message.place(), "");
}

TEST(TorchMessage, JoinsTheFirstLines) {
  EXPECT_EQ(parse_torch_message("one\n  two\n\nthree\n").text, "one two");
  EXPECT_EQ(parse_torch_message("").text, "");
}

}  // namespace
}  // namespace torchmem::engine
