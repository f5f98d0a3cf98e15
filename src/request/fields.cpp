#include "request/fields.h"

#include <algorithm>

#include "request/alloc_conf.h"
#include "request/optimizers.h"
#include "request/sizes.h"
#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

constexpr const char* of_model = "Model";
constexpr const char* of_inputs = "Inputs";
constexpr const char* of_run = "Run";

const std::vector<std::string> mode_names = {"train", "inference", "inference-mode", "grad-forward"};
const std::vector<std::string> half_types = {"bf16", "f16"};
const std::vector<std::string> model_types = {"f32", "f16", "bf16"};

void parse_mode(RunRequest& request, const std::string& text) {
  request.inference_mode = text == "inference-mode";
  request.mode = text == "train"          ? Mode::train
                 : text == "grad-forward" ? Mode::grad_forward
                                          : Mode::inference;
}

void parse_form(RunRequest& request, const std::string& text) {
  std::tie(request.optimizer, request.optimizer_form) = parse_optimizer(text);
}

void parse_limit(RunRequest& request, const std::string& text) { request.limit_bytes = limit_bytes_of(text); }

void parse_recording(RunRequest& request, const std::string&) { request.recording = Recording::events; }

// The model and its inputs.
std::vector<RequestField> fields_of_model() {
  using R = RunRequest;
  return {
      {"command", &R::command, Scope::any, false, Written::always},
      {"model", &R::model, Scope::any, false, Written::always},
      {"method", &R::method, Scope::models, true, Written::always, "--method", of_model,
       "NAME (default forward)", "The model's method to run"},
      {"libraries", &R::libraries, Scope::models, true, Written::always, "--library", of_model, "FILE.so",
       "A shared library with operators that the model calls; may be repeated"},
      {"snapshots", &R::snapshots, Scope::any, false, Written::always},
      {"log_level", &R::log_level, Scope::any, false, Written::always},
      {"inputs", &R::inputs, Scope::runs, true, Written::always},
      {"sizes",
       &R::sizes,
       Scope::runs,
       true,
       Written::if_set,
       "--sizes",
       of_inputs,
       "NAME=N,N,...",
       "Shapes that change: a dimension of --input by its name, and its size in each step",
       {},
       add_sizes},
  };
}

// What a step does.
std::vector<RequestField> fields_of_steps() {
  using R = RunRequest;
  return {
      {"mode", &R::mode, Scope::runs, true, Written::always, "--mode", of_run, "MODE (default train)",
       "train, inference (no_grad), inference-mode, or grad-forward (forward alone, gradients recorded)",
       mode_names, parse_mode},
      {"inference_mode", &R::inference_mode, Scope::runs, true, Written::always},
      {"optimizer",
       &R::optimizer,
       Scope::runs,
       true,
       Written::always,
       "--optimizer",
       of_run,
       "NAME[:FORM] (default adamw)",
       optimizer_names() + "; :foreach or :fused as Python's torch.optim does",
       {},
       parse_form},
      {"optimizer_form", &R::optimizer_form, Scope::runs, true, Written::always},
      {"loss", &R::loss, Scope::runs, true, Written::always, "--loss", of_run, "NAME (default sum)",
       joined(loss_names()), loss_names()},
      {"loss_on", &R::loss_on, Scope::runs, true, Written::always, "--loss-on", of_run, "NAME",
       "Which tensor of the result the loss is computed from; otherwise the first"},
      {"steps", &R::steps, Scope::runs, true, Written::always, "--steps", of_run,
       "N (default 3, or one for each of --sizes)", "Iterations"},
      {"accumulate", &R::accumulate, Scope::runs, true, Written::always, "--accumulate", of_run,
       "N (default 1)", "Micro-batches whose gradients add up before each optimizer step"},
  };
}

// What makes the same step take another amount of memory.
std::vector<RequestField> fields_of_memory() {
  using R = RunRequest;
  return {
      {"autocast", &R::autocast, Scope::runs, true, Written::always, "--autocast", of_run, "DTYPE",
       joined(half_types), half_types},
      {"dtype", &R::dtype, Scope::runs, true, Written::always, "--dtype", of_run, "DTYPE",
       joined(model_types) + ": converts floating weights and inputs, as model.to(dtype) does", model_types},
      {"checkpoint", &R::checkpoint, Scope::runs, true, Written::always, "--checkpoint", of_run, "MODULE",
       "Activation checkpointing of a submodule, e.g. layer1.0, or auto; may be repeated"},
      {"inplace", &R::inplace, Scope::runs, true, Written::always, "--inplace", of_run, nullptr,
       "Activation functions in place, where that is safe"},
      {"keep_outputs", &R::keep_outputs, Scope::runs, true, Written::always, "--keep-outputs", of_run,
       nullptr, "Keep each result until the next one is there, as a variable in a loop does"},
      {"keep_grads", &R::keep_grads, Scope::runs, true, Written::always, "--keep-grads", of_run, nullptr,
       "zero_grad(set_to_none=False): gradients stay, as zeros"},
      {"empty_cache", &R::empty_cache, Scope::runs, true, Written::always, "--empty-cache", of_run, nullptr,
       "torch.cuda.empty_cache() after each iteration"},
      {"channels_last", &R::channels_last, Scope::runs, true, Written::always, "--channels-last", of_run,
       nullptr, "Weights and inputs in channels-last layout"},
      {"jit", &R::jit, Scope::runs, true, Written::always, "--jit", of_run, nullptr,
       "Use TorchScript's optimizer and fusers, as in deployment; otherwise operators run one by one"},
  };
}

// How it is run and recorded.
std::vector<RequestField> fields_of_settings() {
  using R = RunRequest;
  return {
      {"recording",
       &R::recording,
       Scope::runs,
       true,
       Written::if_set,
       "--no-attribution",
       of_run,
       nullptr,
       "Record sizes only, not whose the memory is: faster on a real GPU",
       {},
       parse_recording},
      {"recording_in_turns", &R::recording_in_turns, Scope::runs, false, Written::if_set},
      {"alloc_conf", &R::alloc_conf, Scope::settings, true, Written::always_but_in_scenarios, "--alloc-conf",
       of_run, "CONF", "Allocator settings, as in PYTORCH_CUDA_ALLOC_CONF"},
      {"limit_bytes",
       &R::limit_bytes,
       Scope::settings,
       true,
       Written::always_but_in_scenarios,
       "--limit",
       of_run,
       "SIZE",
       "The most that the allocator may reserve, e.g. 24GiB; context excluded",
       {},
       parse_limit},
      {"values", &R::values, Scope::settings, true, Written::always},
      {"assume", &R::assume, Scope::settings, true, Written::always},
      {"max_assumed_reads", &R::max_assumed_reads, Scope::settings, false, Written::always},
      {"actions", &R::actions, Scope::any, true, Written::if_set},
      {"stream", &R::stream, Scope::any, false, Written::always},
      {"inputs_in_turn", &R::inputs_in_turn, Scope::runs, false, Written::if_set},
  };
}

std::vector<RequestField> make_fields() {
  std::vector<RequestField> fields;
  for (auto group : {fields_of_model, fields_of_steps, fields_of_memory, fields_of_settings}) {
    for (RequestField& field : group()) fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

const std::vector<RequestField>& request_fields() {
  static const std::vector<RequestField> fields = make_fields();
  return fields;
}

void check_choice(const RequestField& field, const std::string& value) {
  if (field.choices.empty() ||
      std::find(field.choices.begin(), field.choices.end(), value) != field.choices.end())
    return;
  throw Error(ErrorKind::bad_usage,
              std::string(field.flag) + " " + value + ": expected one of " + joined(field.choices) + ".");
}

uint64_t limit_bytes_of(const std::string& text) {
  constexpr uint64_t least = uint64_t{1} << 20;
  const uint64_t bytes = parse_bytes(text, "--limit");
  if (bytes < least && text.find_first_not_of("0123456789.") == std::string::npos)
    throw Error(ErrorKind::bad_usage,
                "--limit " + text + ": " + text +
                    " bytes are less than any run takes. Expected a size with its unit, e.g. " + text +
                    "GiB");
  return bytes;
}

}  // namespace torchmem
