#include "cli/model_options.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/alloc_conf.h"
#include "cli/model_file.h"
#include "cli/sizes.h"
#include "cli/spec.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem::cli {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using Names = std::vector<std::string>;

const Names modes = {"train", "inference", "inference-mode", "grad-forward"};
const Names losses = {"sum", "mean", "mse", "cross_entropy"};
const Names autocast_types = {"bf16", "f16"};
const Names model_types = {"f32", "f16", "bf16"};

// An optimizer with the forms that PyTorch has of it on CUDA.
struct Optimizer {
  const char* name;
  bool has_fused;
};

constexpr Optimizer optimizers[] = {{"sgd", true},   {"momentum", true}, {"adam", true},
                                    {"adamw", true}, {"rmsprop", false}, {"adagrad", false}};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string optimizer_names() {
  std::string text;
  for (const Optimizer& optimizer : optimizers)
    text += (text.empty() ? "" : ", ") + std::string(optimizer.name);
  return text;
}

json null_if_empty(const std::string& text) { return text.empty() ? json() : json(text); }

void check_one_of(const std::string& option, const std::string& value, const Names& names) {
  for (const std::string& name : names) {
    if (name == value) return;
  }
  throw Error(ErrorKind::bad_usage, option + " " + value + ": expected one of " + joined(names) + ".");
}

// Whether from the option or from the environment, which PyTorch reads too.
void check_settings(const ModelOptions& options) {
  if (!options.alloc_conf.empty()) return check_alloc_conf(options.alloc_conf, "--alloc-conf");
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    if (const char* value = std::getenv(name)) return check_alloc_conf(value, name);
  }
}

void check_libraries(const ModelOptions& options) {
  std::error_code error;
  for (const std::string& library : options.libraries) {
    if (!fs::is_regular_file(library, error)) {
      throw Error(ErrorKind::bad_usage,
                  "--library " + library + ": there is no such file. Expected a shared library (.so).");
    }
  }
}

std::string make_snapshot_directory(const std::string& path) {
  if (path.empty()) return "";
  std::error_code error;
  fs::create_directories(path, error);
  if (!fs::is_directory(path)) {
    throw Error(ErrorKind::bad_usage,
                "--snapshots " + path + ": the directory cannot be made" +
                    (error ? ": " + error.message() : ": a file of that name is there"));
  }
  return fs::absolute(path).string();
}

void add_run_options(json& request, const ModelOptions& options) {
  check_one_of("--mode", options.mode, modes);
  check_one_of("--loss", options.loss, losses);
  if (!options.autocast.empty()) check_one_of("--autocast", options.autocast, autocast_types);
  if (!options.dtype.empty()) check_one_of("--dtype", options.dtype, model_types);
  auto [optimizer, form] = parse_optimizer(options.optimizer);
  if (options.steps && *options.steps < 1)
    throw Error(ErrorKind::bad_usage, "--steps " + std::to_string(*options.steps) + ": at least 1 is needed");
  if (options.accumulate < 1) {
    throw Error(ErrorKind::bad_usage,
                "--accumulate " + std::to_string(options.accumulate) + ": at least 1 is needed");
  }
  if (!options.inputs.empty() && !options.inputs_file.empty()) {
    throw Error(ErrorKind::bad_usage,
                "--input and --inputs: give the inputs in one of the two ways, not both");
  }
  bool has_names = options.named_dimensions || !options.sizes.empty();
  Dimensions dimensions = has_names ? Dimensions::numbers_and_names : Dimensions::numbers;
  request["inputs"] = options.inputs_file.empty() ? parse_inputs(options.inputs, dimensions)
                                                  : read_inputs_file(options.inputs_file, dimensions);
  const bool inference_mode = options.mode == "inference-mode";
  request["mode"] = inference_mode ? "inference" : options.mode;
  request["inference_mode"] = inference_mode;
  request["optimizer"] = optimizer;
  request["optimizer_form"] = form;
  request["loss"] = options.loss;
  request["loss_on"] = null_if_empty(options.loss_on);
  if (!options.sizes.empty()) add_sizes(request, options.sizes);
  size_t sizes = sized_dimension(request).second;
  request["steps"] = options.steps ? *options.steps : sizes > 0 ? static_cast<int>(sizes) : 3;
  if (!options.named_dimensions) check_sized(request);
  request["accumulate"] = options.accumulate;
  request["autocast"] = null_if_empty(options.autocast);
  request["dtype"] = null_if_empty(options.dtype);
  request["channels_last"] = options.channels_last;
  request["checkpoint"] = options.checkpoint;
  request["inplace"] = options.inplace;
  request["keep_outputs"] = options.keep_outputs;
  request["keep_grads"] = options.keep_grads;
  request["empty_cache"] = options.empty_cache;
  request["jit"] = options.jit;
  if (options.no_attribution) request["recording"] = "events";
  request["alloc_conf"] = null_if_empty(options.alloc_conf);
  request["limit_bytes"] = options.limit.empty() ? json() : json(parse_bytes(options.limit, "--limit"));
  request.update(value_settings(options.values));
}

}  // namespace

std::pair<std::string, std::string> parse_optimizer(const std::string& text, const std::string& what) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  std::string form = colon == std::string::npos ? "loop" : text.substr(colon + 1);
  for (const Optimizer& optimizer : optimizers) {
    if (name != optimizer.name) continue;
    if (form == "fused" && !optimizer.has_fused) {
      throw Error(ErrorKind::bad_usage, what + " " + text + ": PyTorch has no fused form of " + name +
                                            " on CUDA. Expected " + name + " or " + name + ":foreach.");
    }
    if (form == "foreach" || form == "fused" || (form == "loop" && colon == std::string::npos))
      return {name, form};
    throw Error(ErrorKind::bad_usage, what + " " + text + ": unknown form '" + form +
                                          "'. Expected foreach, fused, or no ':' for LibTorch's own loop.");
  }
  throw Error(ErrorKind::bad_usage, what + " " + text + ": unknown optimizer. Expected one of " +
                                        optimizer_names() + ", with :foreach or :fused.");
}

const std::vector<std::string>& loss_names() { return losses; }

void add_opening_options(CLI::App& app, ModelOptions& options) {
  const char* group = "Model";
  app.add_option("--device", options.device,
                 "auto (a real GPU if there is one, else virtual:h200), cuda, cuda:N, virtual, "
                 "virtual:PROFILE, virtual:FILE.json")
      ->option_text("DEVICE (default auto)")
      ->group(group);
  app.add_option("--method", options.method, "The model's method to run")
      ->option_text("NAME (default forward)")
      ->group(group);
  app.add_option("--library", options.libraries,
                 "A shared library with operators that the model calls; may be repeated")
      ->option_text("FILE.so")
      ->allow_extra_args(false)
      ->group(group);
}

void add_running_options(CLI::App& app, ModelOptions& options) {
  add_opening_options(app, options);
  const char* inputs = "Inputs";
  app.add_option("--input", options.inputs,
                 "[NAME=]DTYPE:DIMxDIM...[:FILL], e.g. f32:32x3x224x224 or ids=i64:8x128:below=1000, or "
                 "[NAME=]@file.pt; "
                 "repeated for more")
      ->option_text("SPEC")
      ->allow_extra_args(false)
      ->group(inputs);
  app.add_option("--inputs", options.inputs_file,
                 "Inputs as JSON, for dicts, lists, tuples and scalars: an array of arguments or an object "
                 "of named ones, "
                 "with SPECs as texts")
      ->option_text("FILE.json")
      ->group(inputs);
  app.add_option("--sizes", options.sizes,
                 "Shapes that change: a dimension of --input by its name, and its size in each step")
      ->option_text("NAME=N,N,...")
      ->group(inputs);

  const char* run = "Run";
  app.add_option("--mode", options.mode,
                 "train, inference (no_grad), inference-mode, or grad-forward (forward alone, gradients "
                 "recorded)")
      ->option_text("MODE (default train)")
      ->group(run);
  app.add_option("--optimizer", options.optimizer,
                 optimizer_names() + "; :foreach or :fused as Python's torch.optim does")
      ->option_text("NAME[:FORM] (default adamw)")
      ->group(run);
  app.add_option("--loss", options.loss, joined(losses))->option_text("NAME (default sum)")->group(run);
  app.add_option("--loss-on", options.loss_on,
                 "The tensor of the result that the loss is of; the first one otherwise")
      ->option_text("NAME")
      ->group(run);
  app.add_option("--steps", options.steps, "Iterations")
      ->option_text("N (default 3, or one for each of --sizes)")
      ->group(run);
  app.add_option("--accumulate", options.accumulate,
                 "Micro-batches whose gradients add up before each optimizer step")
      ->option_text("N (default 1)")
      ->group(run);
  app.add_option("--autocast", options.autocast, joined(autocast_types))->option_text("DTYPE")->group(run);
  app.add_option("--dtype", options.dtype,
                 joined(model_types) + ": converts floating weights and inputs, as model.to(dtype) does")
      ->option_text("DTYPE")
      ->group(run);
  app.add_option("--checkpoint", options.checkpoint,
                 "Activation checkpointing of a submodule, e.g. layer1.0, or auto; repeated for more")
      ->option_text("MODULE")
      ->allow_extra_args(false)
      ->group(run);
  app.add_flag("--inplace", options.inplace, "Activation functions in place, where that is safe")->group(run);
  app.add_flag("--keep-outputs", options.keep_outputs,
               "Keep the result until the next one is there, as a variable of a loop does")
      ->group(run);
  app.add_flag("--keep-grads", options.keep_grads, "zero_grad(set_to_none=False): gradients stay, as zeros")
      ->group(run);
  app.add_flag("--empty-cache", options.empty_cache, "torch.cuda.empty_cache() after each iteration")
      ->group(run);
  app.add_flag("--channels-last", options.channels_last, "Weights and inputs in channels-last layout")
      ->group(run);
  app.add_flag("--jit", options.jit,
               "With TorchScript's optimizer and fusers, as deployed; without, operator by operator")
      ->group(run);
  app.add_flag("--no-attribution", options.no_attribution,
               "Record sizes only, not whose the memory is: on a real GPU it costs less time")
      ->group(run);
  app.add_option("--alloc-conf", options.alloc_conf, "Allocator settings, as in PYTORCH_CUDA_ALLOC_CONF")
      ->option_text("CONF")
      ->group(run);
  app.add_option("--limit", options.limit,
                 "The most that the allocator may reserve, e.g. 24GiB; context excluded")
      ->option_text("SIZE")
      ->group(run);
  add_value_options(app, options.values);
}

json make_request(const ModelOptions& options, const std::string& command, const std::string& log_level) {
  json request = {{"command", command},       {"model", options.model},
                  {"method", options.method}, {"libraries", options.libraries},
                  {"log_level", log_level},   {"snapshots", nullptr}};
  if (command == "profile") add_run_options(request, options);
  check_settings(options);
  check_libraries(options);
  check_model_file(options.model);
  if (std::string directory = make_snapshot_directory(options.snapshots); !directory.empty()) {
    request["snapshots"] = directory;
  }
  return request;
}

std::vector<std::string> input_files(const ModelOptions& options) {
  std::vector<std::string> files = options.libraries;
  files.push_back(options.model);
  if (!options.inputs_file.empty()) files.push_back(options.inputs_file);
  if (!options.values.assume_file.empty()) files.push_back(options.values.assume_file);
  for (const std::string& input : options.inputs) {
    size_t at = input.find('@');
    if (at != std::string::npos && input.find(':') > at) files.push_back(input.substr(at + 1));
  }
  return files;
}

json arguments_of(const json& request) {
  json arguments = request;
  // A limit of reads ends a run or does nothing.
  for (const char* name :
       {"command", "model", "stream", "snapshots", "device", "log_level", "max_assumed_reads"})
    arguments.erase(name);
  return arguments;
}

}  // namespace torchmem::cli
