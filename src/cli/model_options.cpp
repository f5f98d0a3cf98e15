#include "cli/model_options.h"

#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "request/alloc_conf.h"
#include "request/fields.h"
#include "request/model_file.h"
#include "request/sizes.h"
#include "request/spec.h"
#include "torchmem/error.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

// Whether from the option or from the environment, which PyTorch reads too.
void check_settings(const RunRequest& request) {
  if (request.alloc_conf) return check_alloc_conf(*request.alloc_conf, "--alloc-conf");
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    if (const char* value = std::getenv(name)) return check_alloc_conf(value, name);
  }
}

void check_libraries(const RunRequest& request) {
  std::error_code error;
  for (const std::string& library : request.libraries) {
    if (!fs::is_regular_file(library, error)) {
      throw Error(
          ErrorKind::bad_usage,
          fmt::format("--library {}: there is no such file. Expected a shared library (.so).", library));
    }
  }
}

std::string make_snapshot_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!fs::is_directory(path)) {
    throw Error(ErrorKind::bad_usage, fmt::format("--snapshots {}: the directory cannot be created: {}", path,
                                                  error ? error.message() : "there is a file of that name"));
  }
  return fs::absolute(path).string();
}

// The option of a field; its value goes into the request, or into the texts where it is to be parsed.
void add_field(CLI::App& app, const RequestField& field, ModelOptions& options) {
  CLI::Option* option = nullptr;
  auto bind = [&](auto member) {
    auto& value = options.request.*member;
    using Value = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      option = app.add_flag(field.flag, value, field.help);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
      option = app.add_option(field.flag, value, field.help)->allow_extra_args(false);
    } else if constexpr (std::is_same_v<Value, int> || std::is_same_v<Value, std::string> ||
                         std::is_same_v<Value, std::optional<std::string>>) {
      option = app.add_option(field.flag, value, field.help);
    }
  };
  if (field.parse && field.values) {
    option = app.add_option(field.flag, options.texts[field.key], field.help);
  } else if (field.parse) {
    option = app.add_flag_callback(
        field.flag, [&options, key = field.key] { options.texts[key] = "on"; }, field.help);
  } else {
    std::visit(bind, field.member);
  }
  if (field.values) option->option_text(field.values);
  option->group(field.group);
}

void add_fields(CLI::App& app, const std::string& group, ModelOptions& options) {
  for (const RequestField& field : request_fields()) {
    if (field.flag && group == field.group) add_field(app, field, options);
  }
}

void check_fields(const RunRequest& request, const ModelOptions& options) {
  for (const RequestField& field : request_fields()) {
    auto check = [&](auto member) {
      const auto& value = request.*member;
      using Value = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, std::string>) check_choice(field, value);
      if constexpr (std::is_same_v<Value, std::optional<std::string>>) {
        if (value) check_choice(field, *value);
      }
    };
    auto text = options.texts.find(field.key);
    if (field.choices.empty()) continue;
    if (field.parse) {
      if (text != options.texts.end() && !text->second.empty()) check_choice(field, text->second);
    } else {
      std::visit(check, field.member);
    }
  }
}

void parse_texts(RunRequest& request, const ModelOptions& options) {
  for (const RequestField& field : request_fields()) {
    auto text = options.texts.find(field.key);
    if (field.parse && text != options.texts.end() && !text->second.empty())
      field.parse(request, text->second);
  }
}

// An option that is given an empty text is as one that is not given.
void drop_empty(RunRequest& request) {
  for (const RequestField& field : request_fields()) {
    auto drop = [&](auto member) {
      auto& value = request.*member;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::optional<std::string>>) {
        if (value && value->empty()) value.reset();
      }
    };
    std::visit(drop, field.member);
  }
}

void check_count(const char* option, int count) {
  if (count >= 1) return;
  throw Error(ErrorKind::bad_usage, fmt::format("{} {}: at least 1 is needed", option, count));
}

void read_inputs(RunRequest& request, const ModelOptions& options, bool has_names) {
  if (!options.inputs.empty() && !options.inputs_file.empty()) {
    throw Error(ErrorKind::bad_usage,
                "--input and --inputs: give the inputs in one of the two ways, not both");
  }
  Dimensions dimensions = has_names ? Dimensions::numbers_and_names : Dimensions::numbers;
  request.inputs = options.inputs_file.empty() ? parse_inputs(options.inputs, dimensions)
                                               : read_inputs_file(options.inputs_file, dimensions);
}

void finish_run(RunRequest& request, const ModelOptions& options) {
  check_fields(request, options);
  auto sizes = options.texts.find("sizes");
  bool has_sizes = sizes != options.texts.end() && !sizes->second.empty();
  bool has_steps = request.steps != unset_steps;
  if (has_steps) check_count("--steps", request.steps);
  check_count("--accumulate", request.accumulate);
  read_inputs(request, options, options.named_dimensions || has_sizes);
  parse_texts(request, options);
  if (!has_steps) request.steps = request.sizes ? static_cast<int>(request.sizes->sizes.size()) : 3;
  if (!options.named_dimensions) check_sized(request);
  static_cast<ValueSettings&>(request) = value_settings(options.values);
}

}  // namespace

void add_opening_options(CLI::App& app, ModelOptions& options) {
  const char* group = "Model";
  app.add_option("--device", options.device,
                 "auto (a real GPU if there is one, else virtual:h200), cuda, cuda:N, virtual, "
                 "virtual:PROFILE, virtual:FILE.json")
      ->option_text("DEVICE (default auto)")
      ->group(group);
  add_fields(app, group, options);
}

void add_running_options(CLI::App& app, ModelOptions& options) {
  add_opening_options(app, options);
  const char* inputs = "Inputs";
  app.add_option("--input", options.inputs,
                 "[NAME=]DTYPE:DIMxDIM...[:FILL], e.g. f32:32x3x224x224 or ids=i64:8x128:below=1000, or "
                 "[NAME=]@file.pt; may be repeated")
      ->option_text("SPEC")
      ->allow_extra_args(false)
      ->group(inputs);
  app.add_option("--inputs", options.inputs_file,
                 "Inputs as JSON, for dicts, lists, tuples and scalars: an array of arguments or an object "
                 "of named ones, with SPECs as strings")
      ->option_text("FILE.json")
      ->group(inputs);
  add_fields(app, inputs, options);
  add_fields(app, "Run", options);
  add_value_options(app, options.values);
}

RunRequest make_request(const ModelOptions& options, const std::string& command,
                        const std::string& log_level) {
  RunRequest request = options.request;
  request.command = command;
  request.log_level = log_level;
  drop_empty(request);
  if (command == "profile") finish_run(request, options);
  check_settings(request);
  check_libraries(request);
  check_model_file(request.model);
  if (!options.snapshots.empty()) request.snapshots = make_snapshot_directory(options.snapshots);
  return request;
}

std::vector<std::string> input_files(const ModelOptions& options) {
  std::vector<std::string> files = options.request.libraries;
  files.push_back(options.model);
  if (!options.inputs_file.empty()) files.push_back(options.inputs_file);
  if (!options.values.assume_file.empty()) files.push_back(options.values.assume_file);
  for (const std::string& input : options.inputs) {
    size_t at = input.find('@');
    if (at != std::string::npos && input.find(':') > at) files.push_back(input.substr(at + 1));
  }
  return files;
}

}  // namespace torchmem
