#include "cli/report_options.h"

#include <langinfo.h>
#include <locale.h>

#include <cstdlib>
#include <cstring>

#include "cli/terminal.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

constexpr size_t markdown_entries = 5;

constexpr const char* color_choices[] = {"auto", "always", "never"};

// As no-color.org has it; a terminal without a name is one that can do nothing.
bool takes_colours() {
  const char* refused = std::getenv("NO_COLOR");
  if (refused && *refused) return false;
  const char* terminal = std::getenv("TERM");
  return terminal && *terminal && std::strcmp(terminal, "dumb") != 0;
}

bool is_utf8_locale() {
  locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (!locale) return false;
  bool is_utf8 = std::strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
  freelocale(locale);
  return is_utf8;
}

}  // namespace

void add_report_options(CLI::App& app, ReportOptions& options) {
  const char* group = "Report";
  app.add_option("--at", options.points,
                 "Also show what the memory was made of at this moment: peak, reserved-peak, end, or a "
                 "phase's end such as forward:1 (of iteration 1); may be repeated")
      ->option_text("MOMENT")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option(
         "--top", options.top,
         "How many entries each list shows, and lists of blocks and segments too; in JSON, how many blocks")
      ->option_text("N (default: what fits a screen; in JSON 1000)")
      ->each([&options](const std::string&) { options.has_top = true; })
      ->group(group);
  app.add_option("--color", options.color, "auto (on a terminal, unless NO_COLOR is set), always, never")
      ->option_text("WHEN (default auto)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(color_choices), std::end(color_choices))))
      ->group(group);
  add_markdown_option(app, options.markdown);
}

void check_report_options(const ReportOptions& options) {
  if (options.has_top && options.top < 1) {
    throw Error(ErrorKind::bad_usage, "--top " + std::to_string(options.top) + ": at least 1 is needed");
  }
}

TextStyle text_style(const ReportOptions& options) {
  TextStyle style = output_style();
  style.colours = options.color == "always" || (options.color == "auto" && is_terminal() && takes_colours());
  style.blocks = is_utf8_locale();
  if (options.has_top) style.top = static_cast<size_t>(options.top);
  return style;
}

size_t most_blocks(const ReportOptions& options) {
  return options.has_top ? static_cast<size_t>(options.top) : default_most_blocks;
}

size_t markdown_top(const ReportOptions& options) {
  return options.has_top ? static_cast<size_t>(options.top) : markdown_entries;
}

void add_markdown_option(CLI::App& app, std::string& path) {
  app.add_option("--markdown", path, "Tables for a pull request; - is standard output")
      ->option_text("FILE")
      ->group("Output");
}

void add_html_option(CLI::App& app, std::string& path, const char* what) {
  app.add_option("--html", path, what)->option_text("FILE.html")->group("Output");
}

}  // namespace torchmem
