#include "cli/output.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <system_error>

#include "run/file.h"
#include "torchmem/error.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

[[noreturn]] void refuse(const OutputPath& output, const std::string& why) {
  throw Error(ErrorKind::bad_usage, fmt::format("{} {}: {}", output.option, output.path, why));
}

void check_writable(const OutputPath& output) {
  std::error_code error;
  fs::path path = output.path;
  if (fs::is_directory(path, error)) refuse(output, "it is a directory; a file's name was expected");
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    if (access(path.c_str(), W_OK) != 0)
      refuse(output, std::string("it cannot be written: ") + std::strerror(errno));
    return;  // a pipe or device
  }
  fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, error)) refuse(output, "there is no directory " + parent.string());
  if (access(parent.c_str(), W_OK) != 0) {
    refuse(output,
           fmt::format("the directory {} cannot be written: {}", parent.string(), std::strerror(errno)));
  }
}

// Two documents in one stream are neither.
void check_stdout(const std::vector<OutputPath>& outputs) {
  const OutputPath* first = nullptr;
  for (const OutputPath& output : outputs) {
    if (output.path != "-") continue;
    if (first)
      throw Error(ErrorKind::bad_usage, first->option + " and " + output.option +
                                            ": both would go to standard output; give one of them a file");
    first = &output;
  }
}

}  // namespace

void check_outputs(const std::vector<OutputPath>& outputs, const std::vector<std::string>& inputs) {
  check_stdout(outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputPath& output = outputs[i];
    if (output.path.empty() || output.path == "-") continue;
    for (const std::string& input : inputs) {
      if (!input.empty() && same_file(output.path, input)) {
        refuse(output, fmt::format("that is an input of this command ({}), which it would overwrite; choose "
                                   "another name",
                                   input));
      }
    }
    std::error_code error;
    bool is_device = fs::exists(output.path, error) && !fs::is_regular_file(output.path, error);
    for (size_t j = 0; j < i && !is_device; ++j) {
      if (!outputs[j].path.empty() && same_file(output.path, outputs[j].path)) {
        refuse(output, outputs[j].option + " writes to the same file; choose another name");
      }
    }
    check_writable(output);
  }
}

bool take_stdout(const std::vector<OutputPath>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputPath& output) { return output.path == "-"; });
}

void write_stdout(std::string_view text) {
  while (!text.empty()) {
    ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorKind::bad_usage,
                  std::string("cannot write the result to standard output: ") + std::strerror(errno));
    }
    text.remove_prefix(static_cast<size_t>(count));
  }
}

void write_output(const std::string& option, const std::string& path, std::string_view text) {
  if (path == "-") return write_stdout(text);
  try {
    write_file_whole(path, text);
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::bad_usage,
                fmt::format("{}: cannot {}. Nothing was left under that name.", option, error.what()));
  }
}

void write_all(const std::vector<std::function<void()>>& outputs) {
  std::exception_ptr first;
  for (const auto& output : outputs) {
    try {
      output();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void write_results(const std::vector<OutputDocument>& documents, const std::function<std::string()>& text) {
  std::vector<std::function<void()>> outputs;
  bool is_taken = false;
  for (const OutputDocument& document : documents) {
    const OutputPath& output = document.output;
    if (output.path.empty()) continue;
    is_taken = is_taken || output.path == "-";
    outputs.emplace_back([&] { write_output(output.option, output.path, document.content()); });
  }
  if (text && !is_taken) outputs.emplace_back([&] { write_stdout(text()); });
  write_all(outputs);
}

std::string json_text(const nlohmann::json& document) {
  // What models and programs call their parts may be no UTF-8.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void write_json_output(const std::string& path, const nlohmann::json& document) {
  write_output("--json", path, json_text(document));
}

}  // namespace torchmem
