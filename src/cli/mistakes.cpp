#include "cli/mistakes.h"

#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace torchmem {

namespace {

// Levenshtein's distance.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, changed});
    }
  }
  return row.back();
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  constexpr size_t farthest = 2;
  std::string best;
  size_t least = std::min(farthest, word.size() / 2) + 1;
  for (const std::string& name : names) {
    const size_t far = distance(word, name);
    if (far < least) {
      least = far;
      best = name;
    }
  }
  return best;
}

std::vector<std::string> spell_out_help(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments[0] == "version") arguments[0] = "--version";
  if (arguments[0] != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.insert(arguments.begin() + (arguments.empty() ? 0 : 1), "--help");
  return arguments;
}

std::string unexpected_text(const CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> unknown = command.remaining(true);
  auto place = [&](const std::string& argument) {
    return std::find(arguments.begin(), arguments.end(), argument) - arguments.begin();
  };
  std::stable_sort(unknown.begin(), unknown.end(),
                   [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  const bool is_one = unknown.size() == 1;
  std::string text = fmt::format("{} not expected: {}.", is_one ? "this argument is" : "these arguments are",
                                 fmt::join(unknown, " "));
  for (const std::string& argument : unknown) {
    const auto at = static_cast<size_t>(place(argument));
    if (at > 0 && at < arguments.size() && arguments[at - 1] == "--json=-")
      return text + " --json takes its file after an equals sign: --json=" + argument;
    if (!argument.starts_with("--")) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (std::string meant = nearest(name, option_names(command)); !meant.empty())
      text += " Did you mean " + meant + "?";
  }
  return text;
}

}  // namespace torchmem
