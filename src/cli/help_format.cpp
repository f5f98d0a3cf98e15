#include "cli/help_format.h"

#include <algorithm>
#include <sstream>

#include "cli/terminal.h"

namespace torchmem {

namespace {

constexpr size_t most_columns = 100;       // what is wider is hard to read
constexpr size_t description_column = 30;  // CLI11's own
constexpr std::string_view example = "  torchmem ";

// Where a line that is broken goes on: below its description, if it has one.
size_t continuation(const std::string& line) {
  bool has_description = line.size() > description_column && line[description_column - 1] == ' ' &&
                         line[description_column] != ' ' &&
                         (line.starts_with("  -") || line.compare(description_column - 3, 3, "   ") == 0);
  return has_description ? description_column : std::min(line.find_first_not_of(' '), line.size());
}

// An example stays in one piece, as it is to be copied.
std::string broken(std::string line, size_t columns) {
  if (line.starts_with(example)) return line + "\n";
  const size_t indent = continuation(line);
  std::string text;
  while (line.size() > columns) {
    size_t blank = line.rfind(' ', columns);
    if (blank == std::string::npos || blank <= indent) blank = line.find(' ', columns);
    if (blank == std::string::npos) break;
    text += line.substr(0, line.find_last_not_of(' ', blank) + 1) + "\n";
    line = std::string(indent, ' ') + line.substr(blank + 1);
  }
  return text + line + "\n";
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::istringstream whole(CLI::Formatter::make_help(app, std::move(name), mode));
  const size_t columns = std::min(output_columns().value_or(most_columns), most_columns);
  std::string text;
  for (std::string line; std::getline(whole, line);) text += broken(line, columns);
  return text;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  return option->nonpositional() ? CLI::Formatter::make_option_opts(option) : "";
}

}  // namespace torchmem
