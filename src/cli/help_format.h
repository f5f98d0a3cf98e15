// --help within the width of what reads it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace torchmem {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace torchmem
