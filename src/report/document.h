// A report of little, filled once and shown as Markdown for a pull request or as a page for a browser.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"

namespace torchmem {

// The page around `body`, which is HTML: with a style, without a script, and nothing loaded from anywhere.
std::string html_page(const std::string& title, const std::string& body);

// Texts are anybody's, and none of them is read as markup.
class Document {
 public:
  // The page's title; Markdown has it only where it is added as a heading.
  explicit Document(std::string title);

  // Nothing is added for an empty text.
  void add_heading(const std::string& text);
  void add_text(const std::string& text);
  void add_important(const std::string& text);
  void add_list(const std::vector<std::string>& entries);
  // Nothing where it has no row.
  void add_table(const Table& table);

  std::string markdown() const;
  std::string html() const;

 private:
  void add(const std::string& markdown, const std::string& html);

  std::string title_;
  std::string markdown_;
  std::string html_;
};

}  // namespace torchmem
