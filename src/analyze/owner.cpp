#include "torchmem/owner.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace torchmem {

namespace {

constexpr std::string_view operator_file = "<op>";
constexpr std::string_view module_file = "<module>";

bool ends_with_one_of(std::string_view text, const auto& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view end) { return text.ends_with(end); });
}

// A symbol of compiled code, as snapshots with C++ stacks have them.
bool is_compiled(std::string_view file) {
  constexpr std::array<std::string_view, 11> endings = {".cpp", ".h",   ".cc", ".c", ".hpp", ".cu",
                                                        ".cuh", ".cxx", ".so", ".S", ".s"};
  return file.empty() || file == "??" || ends_with_one_of(file, endings) ||
         file.find(".so.") != std::string_view::npos;
}

// PyTorch's own Python: installed, within a TorchScript archive (whose files are named from its root), or
// code that has no file.
bool is_of_torch(std::string_view file) {
  return file == "<string>" || file.starts_with("<frozen ") || file.starts_with("<eval_with_key>") ||
         file.starts_with("torch/") || file.find("__torch__/torch/") != std::string_view::npos ||
         file.find("-packages/torch/") != std::string_view::npos;
}

// What stands between `before` and `after` in the text, with what of `before` is kept; empty if it is not so.
std::string_view cut(std::string_view text, std::string_view before, std::string_view after, size_t from) {
  if (!text.starts_with(before)) return {};
  size_t end = text.find(after, before.size());
  return end == std::string_view::npos ? std::string_view() : text.substr(from, end - from);
}

// "at::_ops::conv2d" of at::_ops::conv2d::call(...); empty for other symbols.
std::string_view op_of_symbol(std::string_view symbol) { return cut(symbol, "at::_ops::", "::call(", 0); }

// "ConvolutionBackward0" of torch::autograd::generated::ConvolutionBackward0::apply(...), and PyTorch's own
// name of the node that puts a gradient into .grad; empty for other symbols.
std::string_view node_of_symbol(std::string_view symbol) {
  constexpr std::string_view generated = "torch::autograd::generated::";
  constexpr std::string_view accumulate = "torch::autograd::AccumulateGrad";
  if (std::string_view name = cut(symbol, generated, "::apply(", generated.size()); !name.empty())
    return name;
  return cut(symbol, accumulate, "::apply(", 0);
}

// The autograd engine runs a node within a record of its own.
std::string without_evaluation(const std::string& op) {
  constexpr std::string_view evaluation = "autograd::engine::evaluate_function: ";
  return op.starts_with(evaluation) ? op.substr(evaluation.size()) : op;
}

// "layer1.0 (BasicBlock)".
void set_module(Owner& owner, const std::string& name) {
  size_t type = name.rfind(" (");
  if (type == std::string::npos || !name.ends_with(')')) {
    owner.module = name;
    return;
  }
  owner.module = name.substr(0, type);
  owner.module_type = name.substr(type + 2, name.size() - type - 3);
}

}  // namespace

Owner owner_of(const std::vector<Frame>& stack) {
  Owner owner;
  bool in_backward = false;
  std::string_view node;
  for (const Frame& frame : stack) {
    if (frame.filename == operator_file) {
      owner.op = frame.name;  // the outermost comes last
    } else if (frame.filename == module_file) {
      set_module(owner, frame.name);
    } else if (is_compiled(frame.filename)) {
      in_backward = in_backward || frame.name.starts_with("torch::autograd::Engine::evaluate_function(");
      if (std::string_view found = node_of_symbol(frame.name); !found.empty()) owner.op = node = found;
      if (std::string_view op = op_of_symbol(frame.name); !op.empty()) owner.op = op;
    } else if (owner.line.empty() && !is_of_torch(frame.filename)) {
      owner.line = frame.filename + ":" + std::to_string(frame.line);
    }
  }
  owner.op = without_evaluation(owner.op);
  // The engine's threads run no code of the user's.
  if (owner.line.empty() && in_backward)
    owner.line = "(backward)" + (node.empty() ? "" : " " + std::string(node));
  return owner;
}

}  // namespace torchmem
