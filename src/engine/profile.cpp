#include "engine/profile.h"

#include <ATen/ops/ones_like.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <memory>
#include <optional>

#include "capture/autograd_nodes.h"
#include "capture/dtype.h"
#include "capture/operator_tracking.h"
#include "engine/attribution.h"
#include "engine/autocast.h"
#include "engine/device.h"
#include "engine/failure.h"
#include "engine/gradients.h"
#include "engine/inputs.h"
#include "engine/loss.h"
#include "engine/model.h"
#include "engine/optimizer.h"
#include "engine/results.h"
#include "engine/snapshots.h"
#include "values/virtual_device.h"

namespace torchmem::engine {
namespace {

using c10::IValue;
using nlohmann::json;

class Run {
 public:
  Run(const RunRequest& request, capture::StreamWriter& writer, RunState& state, c10::Device device)
      : request_(request),
        writer_(writer),
        state_(state),
        recorder_(*state.recorder),
        attribution_(recorder_.owners()),
        device_(device) {
    if (request.snapshots) snapshots_ = std::make_unique<Snapshots>(*request.snapshots);
  }

  void operator()() {
    load();
    std::vector<InputBuilder> in_turn;
    for (const Arguments& arguments : request_.inputs_in_turn)
      in_turn.emplace_back(request_, arguments, *model_, device_);
    if (in_turn.empty()) in_turn.emplace_back(request_, request_.inputs, *model_, device_);
    for (iteration_ = 0; *iteration_ < request_.steps; ++*iteration_) {
      const InputBuilder& inputs = in_turn[static_cast<std::size_t>(*iteration_) % in_turn.size()];
      state_.call = inputs.call();
      if (request_.mode == Mode::train) {
        train(inputs);
      } else {
        infer(inputs);
      }
      if (request_.empty_cache) phase("empty_cache", [] { c10::cuda::CUDACachingAllocator::emptyCache(); });
    }
  }

 private:
  template <class Work>
  void phase(const char* name, Work&& work) {
    recorder_.begin_phase(name, iteration_, micro_);
    work();
    recorder_.end_phase();
    if (snapshots_) snapshots_->write(name, iteration_);
  }

  void load() {
    phase("load", [&] {
      model_ = load_torchscript(request_, device_, values::virtual_device().present());
      model_->set_training(request_.mode == Mode::train);
      if (request_.dtype) model_->to_dtype(*capture::parse_dtype(*request_.dtype));
      if (json done = model_->rewrite(request_); !done.empty()) writer_.facts({{"levers", std::move(done)}});
      if (request_.channels_last) model_->to_channels_last();
      attribution_.model(*model_);
      writer_.facts({{"model", model_->facts()}});
      if (request_.mode != Mode::train) return;
      auto parameters = model_->parameters();
      has_parameters_ = !parameters.empty();
      optimizer_ = find_optimizer(request_.optimizer, request_.optimizer_form).make(std::move(parameters));
    });
  }

  std::vector<IValue> make_inputs(const InputBuilder& builder) {
    capture::forget_creators();  // the graph of the last loss is gone
    std::vector<IValue> inputs = builder.build();
    attribution_.inputs(builder.names(), inputs);
    return inputs;
  }

  IValue forward(const std::vector<IValue>& inputs) {
    const AutocastScope autocast(request_.autocast);
    try {
      IValue result = model_->run(inputs);
      attribution_.outputs(result);
      return result;
    } catch (...) {
      state_.constant_devices = model_->constant_devices();
      throw;
    }
  }

  // The tensor of the result that the loss is of, said once.
  at::Tensor pick(const IValue& result) {
    NamedTensor picked = pick_tensor(result, request_.loss_on);
    if (!said_loss_on_) {
      said_loss_on_ = true;
      writer_.facts({{"loss_on", picked.name}});
    }
    return std::move(picked.tensor);
  }

  void check_trainable(const at::Tensor& y) const {
    if (!has_parameters_) {
      throw Failure(
          FailureKind::bad_model,
          "The model " + request_.model +
              " has no parameters, so it cannot be trained: it was frozen (torch.jit.freeze) or never had "
              "any. Use --mode inference, or give the model as it was before freezing.");
    }
    if (y.requires_grad()) return;
    throw Failure(FailureKind::model_failed,
                  "The tensor that the loss is taken of has no gradient (no parameter that requires one "
                  "leads to it). Choose another tensor of "
                  "the result with --loss-on NAME, or use --mode inference.");
  }

  void train(const InputBuilder& builder) {
    std::vector<IValue> inputs;
    at::Tensor loss;
    for (int micro = 0; micro < request_.accumulate; ++micro) {
      if (request_.accumulate > 1) micro_ = micro;
      at::Tensor y;
      inputs.clear();
      loss.reset();
      phase("input", [&] { inputs = make_inputs(builder); });
      phase("forward", [&] {
        IValue result = forward(inputs);
        y = pick(result);
        if (request_.keep_outputs) kept_ = std::move(result);
      });
      phase("loss", [&] {
        check_trainable(y);
        loss = find_loss(request_.loss).apply(std::move(y));
        attribution_.loss(loss);
      });
      phase("backward", [&] {
        const auto claim = attribution_.gradients_at_exit();
        const at::Tensor gradient = at::ones_like(loss, {}, at::MemoryFormat::Contiguous);
        attribution_.loss_gradient(gradient);
        loss.backward(gradient);
      });
    }
    micro_.reset();
    phase("optimizer", [&] {
      const auto claim = attribution_.optimizer_state_at_exit(*optimizer_);
      const capture::OperatorScope scope("Optimizer.step#" + request_.optimizer);
      optimizer_->step();
    });
    phase("zero_grad", [&] {
      if (request_.keep_grads) {
        fill_grads_with_zeros(model_->parameters(), request_.optimizer_form != "loop");
      } else {
        optimizer_->zero_grad();
      }
    });
  }

  void infer(const InputBuilder& builder) {
    std::vector<IValue> inputs;
    phase("input", [&] { inputs = make_inputs(builder); });
    const c10::AutoGradMode grad_mode(request_.mode == Mode::grad_forward);
    std::optional<c10::InferenceMode> inference_mode;  // a guard for false would record gradients
    if (request_.inference_mode) inference_mode.emplace();
    IValue first;
    phase("forward", [&] {
      IValue result = forward(inputs);
      const auto tensors = result_tensors(result);
      if (!tensors.empty()) first = tensors.front().tensor;
      if (request_.keep_outputs) kept_ = std::move(result);
    });
    phase("end", [&] { first = IValue(); });
  }

  const RunRequest& request_;
  capture::StreamWriter& writer_;
  RunState& state_;
  capture::Recorder& recorder_;
  Attribution attribution_;
  c10::Device device_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  IValue kept_;  // the last result, with keep_outputs
  std::optional<int> iteration_;
  std::optional<int> micro_;
  bool has_parameters_ = false;
  bool said_loss_on_ = false;
};

}  // namespace

void run_profile(const RunRequest& request, capture::StreamWriter& writer, RunState& state) {
  if (request.mode == Mode::train) {  // before anything is loaded
    find_loss(request.loss);
    find_optimizer(request.optimizer, request.optimizer_form);
  }
  const c10::Device device = open_device(request);
  writer.facts(device_facts(request, device));
  load_libraries(request.libraries);
  capture::Recorder::Options options;
  options.writer = &writer;
  options.device = device.index();
  options.recording = request.recording;
  options.in_turns = request.recording_in_turns;
  state.recorder = &capture::Recorder::start(options);
  Run run(request, writer, state, device);
  run();
  state.recorder->finish();
}

}  // namespace torchmem::engine
