#include "report/table.h"

#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "report/markup.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace {

using Kind = TableColumn::Kind;

constexpr size_t bar_gap = 2;
constexpr size_t mark_gap = 2;
constexpr size_t shortest_bar = 16;  // that says something
constexpr size_t widest_bar = 40;
constexpr size_t shortest_name = 8;
constexpr const char* note_kind = "note";
constexpr const char* title_kind = "title";
constexpr const char* text_kind = "text";

// Over all columns.
bool is_whole(const TableRow& row) {
  return row.kind == note_kind || row.kind == title_kind || row.kind == text_kind;
}

bool is_left(const TableColumn& column) { return column.kind != Kind::number; }

std::string padded(const TableColumn& column, const std::string& text, size_t width) {
  return is_left(column) ? pad_right(text, width) : pad_left(text, width);
}

// Within that many columns.
std::string cut_to(const TableColumn& column, const std::string& text, size_t width) {
  return column.kind == Kind::path ? cut_start(text, width) : shorten(text, width);
}

std::string without_blanks_at_end(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

TableCell bytes_cell(std::optional<uint64_t> bytes) {
  TableCell cell = number_cell(bytes ? format_bytes(*bytes) : "-");
  cell.bytes = bytes;
  return cell;
}

TableCell number_cell(std::string text) {
  TableCell cell(std::move(text));
  cell.is_ours = true;
  return cell;
}

Table::Table(std::vector<TableColumn> columns, uint64_t whole)
    : columns_(std::move(columns)), whole_(whole) {}

TableRow& Table::add(std::vector<TableCell> cells) {
  rows_.emplace_back().cells = std::move(cells);
  return rows_.back();
}

void Table::add_note(const std::string& text) { add({text}).kind = note_kind; }

void Table::add_title(const std::string& text) { add({text}).kind = title_kind; }

void Table::add_text(std::string lines) { add({std::move(lines)}).kind = text_kind; }

// The columns' widths, 0 for one that is left out, and the room for bars.
struct Table::Layout {
  std::vector<size_t> widths;
  std::vector<size_t> contents;  // what they need
  size_t bar = 0;
  size_t room = 0;  // marks behind rows not counted

  size_t sum() const { return std::accumulate(widths.begin(), widths.end(), size_t{0}); }
  size_t bar_room() const {
    size_t used = sum() + bar_gap;
    return std::clamp<size_t>(room > used ? room - used : 0, shortest_bar, widest_bar);
  }
  bool fits() const { return sum() + (bar > 0 ? bar_gap + shortest_bar : 0) <= room; }
  void narrow(size_t column, size_t least) {
    size_t& width = widths[column];
    while (!fits() && width > least) --width;
  }
  // Names to what they may be cut to, then numbers to the gaps that tell them apart.
  void narrow_all(const std::vector<TableColumn>& columns) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (is_left(columns[i])) narrow(i, columns[i].indent + columns[i].least);
    }
    for (size_t gap : {2, 1}) {
      for (size_t i = columns.size(); i-- > 0;) {
        if (!is_left(columns[i])) narrow(i, contents[i] + gap);
      }
    }
  }
};

size_t Table::content_width(size_t column) const {
  size_t widest = columns_of(columns_[column].title);
  for (const TableRow& row : rows_) {
    if (is_whole(row) || column >= row.cells.size()) continue;
    size_t width = columns_of(printable(row.cells[column].text)) + columns_[column].indent;
    // Wider words have lines of their own.
    if (columns_[column].kind != Kind::words || width < columns_[column].width)
      widest = std::max(widest, width);
  }
  return widest;
}

Table::Layout Table::arranged(const TextStyle& style) const {
  Layout layout;
  size_t marks = 0;
  for (const TableRow& row : rows_) {
    if (!row.mark.empty()) marks = std::max(marks, mark_gap + columns_of(row.mark));
  }
  layout.room = style.width - std::min(style.width, marks);
  for (size_t i = 0; i < columns_.size(); ++i) {
    layout.contents.push_back(content_width(i));
    layout.widths.push_back(std::max(columns_[i].width, layout.contents[i] + (is_left(columns_[i]) ? 0 : 1)));
  }
  if (whole_ > 0) layout.bar = layout.bar_room();
  if (!style.cuts) return layout;
  const Layout natural = layout;
  layout.narrow_all(columns_);
  // What is left out leaves room to the others.
  Layout fewer = natural;
  fewer.bar = 0;
  for (size_t i = columns_.size(); i > 0 && !layout.fits(); --i) {
    layout = fewer;
    layout.narrow_all(columns_);
    if (columns_[i - 1].is_optional) fewer.widths[i - 1] = 0;
  }
  if (!layout.fits()) layout = fewer;
  layout.narrow_all(columns_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (is_left(columns_[i])) layout.narrow(i, columns_[i].indent + shortest_name);
  }
  if (layout.bar > 0) layout.bar = layout.bar_room();
  return layout;
}

std::string Table::line(const Layout& layout, const std::vector<TableCell>& cells, bool is_head) const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const TableColumn& column = columns_[i];
    size_t width = layout.widths[i];
    if (width == 0) continue;
    size_t indent = is_head ? 0 : column.indent;
    std::string cell = i < cells.size() ? printable(cells[i].text) : "";
    if (is_left(column)) cell = cut_to(column, cell, width - indent);
    text += std::string(indent, ' ') + padded(column, cell, width - indent);
  }
  return text;
}

size_t Table::width_of(size_t column, const TextStyle& style) const { return arranged(style).widths[column]; }

std::string Table::text(const TextStyle& style) const {
  const Layout layout = arranged(style);
  std::vector<TableCell> titles;
  for (const TableColumn& column : columns_) titles.emplace_back(column.title);
  std::string text = tinted(style, Tint::bold, line(layout, titles, true)) + "\n";
  for (const TableRow& row : rows_) {
    if (row.kind == text_kind) {
      text += row.cells[0].text;
      continue;
    }
    if (row.kind == title_kind) {
      text += printable(row.cells[0].text) + "\n";
      continue;
    }
    if (row.kind == note_kind) {
      const std::string note = "  " + row.cells[0].text;
      text += tinted(style, Tint::dim, style.cuts ? shorten(note, style.width) : note) + "\n";
      continue;
    }
    std::vector<TableCell> cells = row.cells;
    if (columns_[0].kind == Kind::words && columns_of(cells[0].text) >= layout.widths[0]) {
      text += wrap(printable(cells[0].text), 0, style);
      cells[0].text.clear();
    }
    // Of a row that has nothing but its name, no blanks are left.
    std::string content = line(layout, cells, false);
    if (cells.size() == 1) content = without_blanks_at_end(content);
    if (row.is_dim || row.is_among) {
      content = tinted(style, Tint::dim, content);
    } else if (layout.bar > 0) {
      const std::string drawn = bar(style, row.part, whole_, layout.bar);
      if (!drawn.empty()) content += std::string(bar_gap, ' ') + tinted(style, row.tint, drawn);
    }
    if (!row.mark.empty()) content += std::string(mark_gap, ' ') + row.mark;
    if (!content.empty()) text += content + "\n";
    text += row.below;
  }
  return text;
}

std::string Table::markdown() const {
  auto row_of = [](const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::vector<std::string> titles;
  std::string rule = "|";
  for (const TableColumn& column : columns_) {
    titles.push_back(column.title);
    rule += is_left(column) ? ":---|" : "---:|";
  }
  std::string text = row_of(titles) + rule + "\n";
  for (const TableRow& row : rows_) {
    if (row.kind == text_kind) continue;
    std::vector<std::string> cells;
    for (const TableCell& cell : row.cells)
      cells.push_back(cell.is_ours ? cell.text : markdown_text(cell.text));
    if (row.kind == title_kind) cells[0] = fmt::format("**{}**", cells[0]);
    if (row.is_among) cells[0] = fmt::format("*{}*", cells[0]);
    cells.resize(columns_.size());
    text += row_of(cells);
  }
  return text;
}

std::string Table::html() const {
  std::string text = "<table>\n<tr>";
  for (const TableColumn& column : columns_)
    text += fmt::format("<th{}>{}</th>", is_left(column) ? " class=\"why\"" : "", xml(column.title));
  text += "</tr>\n";
  for (const TableRow& row : rows_) {
    if (row.kind == text_kind) continue;
    text += row.kind.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", xml(row.kind));
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const TableCell& cell = row.cells[i];
      text += is_left(columns_[i]) ? "<td class=\"why\"" : "<td";
      if (is_whole(row)) text += fmt::format(" colspan=\"{}\"", columns_.size());
      if (cell.bytes) text += fmt::format(" title=\"{} B\"", format_count(*cell.bytes));
      text += fmt::format(">{}</td>", xml(cell.text));
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

}  // namespace torchmem
