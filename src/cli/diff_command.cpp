#include <system_error>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/terminal.h"
#include "run/file.h"
#include "torchmem/diff.h"
#include "torchmem/report.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "A and B are run files (profile --save), PyTorch memory snapshots, or JSON reports (profile --json).\n"
    "Changes are from A to B, the largest first. The exit code is 0 whether they differ or not.";

bool is_json(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

json parse_json(std::string_view text, const std::string& path) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::bad_input, "cannot compare " + path + ": it is not JSON: " + error.what());
  }
}

template <class What>
Account account_named(const What& what, const std::string& path) {
  try {
    return account_of(what, path);
  } catch (const Error& error) {
    throw Error(error.kind(), "cannot compare " + path + ": " + error.what());
  }
}

Account read_account(const std::string& path) {
  try {
    MappedFile file(path);
    if (!is_json(file.text())) return account_named(read_run(file.text(), path), path);
    return account_named(parse_json(file.text(), path), path);
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::bad_input, std::string("cannot ") + error.what());
  }
}

class DiffCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("A", before_, "The run before")->required();
    app.add_option("B", after_, "The run after")->required();
    app.add_option("--top", top_, "How many changes of each part are shown; JSON has all")
        ->option_text("N (default 10)")
        ->check(CLI::Range(1, 1000000));
    add_html_option(app, html_, "The same as a page for any browser");
    add_markdown_option(app, markdown_);
    app.add_option("--device", device_, "Compare this device alone; otherwise every device that both have")
        ->option_text("N")
        ->check(CLI::Range(0, 1000));
    app.footer(footer);
  }

  ExitCode run() override {
    check_outputs({{"--html", html_}, {"--json", common.json}, {"--markdown", markdown_}}, {before_, after_});
    outputs_checked = true;
    Diff diff = compare(read_account(before_), read_account(after_), device_);
    result_written = true;
    write_results({{{"--html", html_}, [&] { return diff_html(diff, top_); }},
                   {{"--json", common.json}, [&] { return json_text(diff_json(diff)); }},
                   {{"--markdown", markdown_}, [&] { return diff_markdown(diff, top_); }}},
                  [&] { return diff_text(diff, top_, output_style()); });
    return ExitCode::yes;
  }

 private:
  std::string before_;
  std::string after_;
  std::string html_;
  std::string markdown_;
  size_t top_ = 10;
  std::optional<int32_t> device_;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace torchmem
