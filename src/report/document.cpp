#include "report/document.h"

#include <string_view>
#include <utility>

#include "report/markup.h"

namespace torchmem {

namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --page: #f3f4f6; --surface: #fff; --ink: #15181e; --muted: #5b6472; --line: #e3e6ea;
  --allocated: #44aa99; --reserved: #332288; --bad: #c21818; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0f1216; --surface: #171b21; --ink: #e8eaee; --muted: #98a2b0; --line: #2a3038; --reserved: #7a6ae0;
    --bad: #ff7a70; }
}
body { margin: 0 auto; padding: 24px; max-width: 900px; background: var(--page); color: var(--ink);
  font: 14px/1.5 system-ui, sans-serif; }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 16px; margin: 16px 0;
  overflow-x: auto; }
h1 { font-size: 20px; margin: 0; }
h2 { font-size: 15px; margin: 20px 0 8px; }
section > :first-child { margin-top: 0; }
pre { margin: 0; font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
svg { width: 100%; height: auto; }
svg text { fill: var(--muted); font-size: 12px; }
.grid { stroke: var(--line); }
.limit { stroke: var(--bad); stroke-dasharray: 5 4; }
.allocated { stroke: var(--allocated); fill: var(--allocated); }
.reserved { stroke: var(--reserved); fill: var(--reserved); }
path.allocated, path.reserved { fill: none; stroke-width: 1.5; }
.refused { stroke: var(--bad); stroke-width: 1.5; }
.key { display: inline-block; width: 10px; height: 10px; margin: 0 6px 0 14px; border-radius: 5px; }
table { border-collapse: collapse; }
th, td { padding: 2px 16px 2px 0; text-align: right; vertical-align: top; white-space: nowrap; }
th, td { font-variant-numeric: tabular-nums; }
th { color: var(--muted); font-weight: normal; }
th.why { text-align: left; }
td.why { text-align: left; white-space: normal; color: var(--muted); }
p { margin: 0 0 8px; }
p.important { color: var(--bad); font-weight: 600; }
ul { margin: 0; padding-left: 20px; }
tr.title td { padding-top: 10px; font-weight: 600; }
tr.note td { color: var(--muted); }
tr.answer td { font-weight: 600; }
)";

}  // namespace

std::string html_page(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
         "style-src 'unsafe-inline'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         xml(title) + "</title>\n<style>" + std::string(style) + "</style>\n</head>\n<body>\n<h1>" +
         xml(title) + "</h1>\n" + body + "</body>\n</html>\n";
}

Document::Document(std::string title) : title_(std::move(title)) {}

void Document::add(const std::string& markdown, const std::string& html) {
  markdown_ += (markdown_.empty() ? "" : "\n") + markdown;
  html_ += html;
}

void Document::add_heading(const std::string& text) {
  if (!text.empty()) add("### " + markdown_text(text) + "\n", "<h2>" + xml(text) + "</h2>\n");
}

void Document::add_text(const std::string& text) {
  if (!text.empty()) add(markdown_text(text) + "\n", "<p>" + xml(text) + "</p>\n");
}

void Document::add_important(const std::string& text) {
  if (text.empty()) return;
  add("**" + markdown_text(text) + "**\n", "<p class=\"important\">" + xml(text) + "</p>\n");
}

void Document::add_list(const std::vector<std::string>& entries) {
  std::string markdown;
  std::string html;
  for (const std::string& entry : entries) {
    markdown += "- " + markdown_text(entry) + "\n";
    html += "<li>" + xml(entry) + "</li>\n";
  }
  if (!entries.empty()) add(markdown, "<ul>\n" + html + "</ul>\n");
}

void Document::add_table(const Table& table) {
  if (!table.is_empty()) add(table.markdown(), table.html());
}

std::string Document::markdown() const { return markdown_; }

std::string Document::html() const { return html_page(title_, "<section>\n" + html_ + "</section>\n"); }

}  // namespace torchmem
