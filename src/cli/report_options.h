// Options of commands that report on a run: how much, of which moments, in which dress.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "torchmem/report.h"

namespace torchmem {

struct ReportOptions {
  std::vector<std::string> points;
  int64_t top = 0;
  bool has_top = false;
  std::string color = "auto";
  std::string markdown;  // "-": standard output; empty: none
};

void add_report_options(CLI::App& app, ReportOptions& options);

// Throws Error(bad_usage).
void check_report_options(const ReportOptions& options);

// For standard output: colours and width are those of a terminal, if it is one.
TextStyle text_style(const ReportOptions& options);

// Entries in lists of reports that are no text for a terminal.
size_t most_blocks(const ReportOptions& options);
size_t markdown_top(const ReportOptions& options);

// --markdown and --html, in the same words for every command.
void add_markdown_option(CLI::App& app, std::string& path);
void add_html_option(CLI::App& app, std::string& path, const char* what);

}  // namespace torchmem
