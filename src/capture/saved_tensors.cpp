#include "capture/saved_tensors.h"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <atomic>
#include <memory>

namespace torchmem::capture {
namespace {

Owners* the_owners = nullptr;
std::atomic<bool> is_paused{false};

class Saved : public torch::autograd::SavedVariableHooks {
 public:
  void call_pack_hook(const at::Tensor& tensor) override {
    // The tensor itself may lead back to the node that saves it, which would then never be freed.
    tensor_ = tensor.detach();
    version_ = tensor.is_inference() ? 0 : tensor._version();
    the_owners->saved(tensor_);
  }

  at::Tensor call_unpack_hook() override {
    const auto version = tensor_.is_inference() ? 0 : tensor_._version();
    TORCH_CHECK(version == version_,
                "one of the variables needed for gradient computation has been modified by an inplace "
                "operation: [",
                tensor_.toString(), " ", tensor_.sizes(), "] is at version ", version, "; expected version ",
                version_, " instead.");
    return tensor_;
  }

 private:
  at::Tensor tensor_;
  std::int64_t version_ = 0;
};

class HookedEngine : public torch::autograd::Engine {
 public:
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    return is_paused ? nullptr : std::make_unique<Saved>();
  }
};

torch::autograd::Engine& hooked_engine() {
  static auto* engine = new HookedEngine;  // its threads outlive static destructors
  return *engine;
}

}  // namespace

void hook_saved_tensors(Owners& owners) {
  the_owners = &owners;
  torch::autograd::set_default_engine_stub(hooked_engine);
}

void pause_saved_tensors(bool paused) { is_paused = paused; }

}  // namespace torchmem::capture
