// Where results go. Files appear under their name whole or not at all, and never replace an input.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace torchmem {

// An option that names where a result goes. "-" is standard output, an empty path nowhere.
struct OutputPath {
  std::string option;  // "--save"
  std::string path;
};

// Checks before any work that each output can be written where it is to go, and that it is none of the inputs
// and no other output. Throws Error(bad_usage) naming the option.
void check_outputs(const std::vector<OutputPath>& outputs, const std::vector<std::string>& inputs);

// Whether one of them goes to standard output, and no text can.
bool take_stdout(const std::vector<OutputPath>& outputs);

// Writes to standard output. Throws Error(bad_usage) when it cannot (a full disk, a closed descriptor).
void write_stdout(std::string_view text);

// Writes a file, or standard output; throws Error(bad_usage) naming the option.
void write_output(const std::string& option, const std::string& path, std::string_view text);

// Does each, also when one before it throws, so that no result is lost; then throws the first error again.
void write_all(const std::vector<std::function<void()>>& outputs);

// A result in one of its forms, made only where it was asked for.
struct OutputDocument {
  OutputPath output;
  std::function<std::string()> content;
};

// Writes the documents; then the text, if there is one, unless a document is on standard output. As write_all
// does.
void write_results(const std::vector<OutputDocument>& documents, const std::function<std::string()>& text);

// As --json has it.
std::string json_text(const nlohmann::json& document);
void write_json_output(const std::string& path, const nlohmann::json& document);

}  // namespace torchmem
