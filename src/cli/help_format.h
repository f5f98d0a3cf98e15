// --help within the width of what reads it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace torchmem {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

  /// Of an argument nothing: its name says it all, and the usage whether it can be left out.
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace torchmem
