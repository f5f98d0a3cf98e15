#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/owners.h"
#include "engine/model.h"
#include "engine/optimizer.h"

namespace torchmem::engine {

// Says whose memory is whose, of what the engine itself holds in its hands: the model's tensors, inputs,
// results, gradients, the optimizer's state. Does nothing when nobody records it (null owners).
class Attribution {
 public:
  explicit Attribution(capture::Owners* owners) : owners_(owners) {}

  // Parameters and buffers, as they are now; "NAME.fc.weight" where the model has a name of its own.
  void model(const Model& model, const std::string& name = "");
  // Lets go of that model's parameters.
  void forget_model(const std::string& name);
  // The arguments of a call, tensors within lists and dictionaries by the way that leads to them
  // ("batch.ids").
  void inputs(const std::vector<std::string>& names, const std::vector<c10::IValue>& values);
  // The tensors of a value under a name, those within it as "NAME.key".
  void input(const std::string& name, const c10::IValue& value);
  // The tensors of a result, by key, position or attribute; "result" for a result that is one tensor. Where
  // the result has a name of its own, that and "NAME.key".
  void outputs(const c10::IValue& result, const std::string& name = "");
  void loss(const at::Tensor& loss);
  void loss_gradient(const at::Tensor& gradient);

  // Claims when it goes out of scope, also by an exception: what there is by then stays known.
  class AtExit {
   public:
    explicit AtExit(std::function<void()> claim) : claim_(std::move(claim)) {}
    ~AtExit() {
      if (claim_) claim_();
    }
    AtExit(const AtExit&) = delete;
    AtExit& operator=(const AtExit&) = delete;

   private:
    std::function<void()> claim_;
  };
  // A gradient is named after its parameter; a buffer in which several lie, after all of them.
  AtExit gradients_at_exit();
  AtExit optimizer_state_at_exit(const Optimizer& optimizer);

 private:
  void claim(const at::Tensor& tensor, Category category, const std::string& name);

  void claim_gradients();

  struct Parameter {
    std::string model;
    Model::NamedTensor tensor;
  };
  capture::Owners* owners_;
  std::vector<Parameter> parameters_;
};

}  // namespace torchmem::engine
