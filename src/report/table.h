// A table of a report: filled once, shown as text, Markdown or HTML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/style.h"

namespace torchmem {

struct TableColumn {
  enum class Kind : uint8_t {
    number,  // to the right
    name,    // to the left; loses its middle where there is no room
    path,    // to the left; loses its start
    words,   // to the left; stands on lines of its own where it is wider than the column
  };
  std::string title;
  Kind kind = Kind::number;
  size_t width = 0;          // in text, at least; of a number with the gap before it
  size_t indent = 0;         // of a name below its title
  size_t least = 18;         // a name is not cut below that before other columns give way
  bool is_optional = false;  // left out of text that is too narrow for all; the last one first
};

struct TableCell {
  std::string text;
  bool is_ours = false;           // nothing in it is to be escaped
  std::optional<uint64_t> bytes;  // that it is short for

  TableCell(std::string given) : text(std::move(given)) {}  // NOLINT(google-explicit-constructor)
  TableCell(const char* given) : text(given) {}             // NOLINT(google-explicit-constructor)
};
// "1.50 MiB", or "-" for what is not known.
TableCell bytes_cell(std::optional<uint64_t> bytes);
// Any text of ours.
TableCell number_cell(std::string text);

struct TableRow {
  std::vector<TableCell> cells;  // by column; the last ones may be missing
  bool is_dim = false;           // less than the others, on a terminal
  bool is_among = false;         // counts what is among the other rows; dim, and slanted in Markdown
  uint64_t part = 0;             // of the table's whole: the bar's length
  Tint tint = Tint::cyan;        // of the bar
  std::string mark;              // stands behind the row
  std::string below;             // lines of text under the row, each ended
  std::string kind;              // a class of HTML
};

class Table {
 public:
  // `whole`: what bars are a part of; 0: there are none.
  explicit Table(std::vector<TableColumn> columns, uint64_t whole = 0);

  TableRow& add(std::vector<TableCell> cells);
  // A line over all columns.
  void add_note(const std::string& text);
  // A line over all columns, for the rows that follow.
  void add_title(const std::string& text);
  // Lines between rows, as they are; only in text.
  void add_text(std::string lines);
  bool is_empty() const { return rows_.empty(); }

  std::string text(const TextStyle& style) const;
  // What the column has there; 0: it is left out.
  size_t width_of(size_t column, const TextStyle& style) const;
  std::string markdown() const;
  std::string html() const;

 private:
  struct Layout;
  Layout arranged(const TextStyle& style) const;
  size_t content_width(size_t column) const;
  std::string line(const Layout& layout, const std::vector<TableCell>& cells, bool is_head) const;

  std::vector<TableColumn> columns_;
  uint64_t whole_;
  std::vector<TableRow> rows_;  // a note has one cell, and its kind is "note"; likewise "title" and "text"
};

}  // namespace torchmem
