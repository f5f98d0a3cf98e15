#include <spdlog/fmt/ranges.h>

#include <algorithm>

#include "report/document.h"
#include "report/table.h"
#include "report/text.h"
#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/diff.h"
#include "torchmem/report.h"

namespace torchmem {

namespace {

constexpr size_t name_width = 34;
constexpr size_t bytes_width = 13;
constexpr size_t change_width = 14;

std::string signed_bytes(int64_t bytes) {
  // The least number has no positive one of its own.
  uint64_t size = bytes < 0 ? ~static_cast<uint64_t>(bytes) + 1 : static_cast<uint64_t>(bytes);
  return (bytes < 0 ? "-" : "+") + format_bytes(size);
}

std::string shown_name(size_t part, const std::string& name) {
  if (!name.empty()) return name;
  return diff_parts[part].name == std::string("modules") ? "(the root, or unknown)" : "(unknown)";
}

// Of text; the other forms have a column for the mark, and no lines between rows but notes.
Table change_table(const std::string& title, bool is_text) {
  std::vector<TableColumn> columns = {
      {.title = title, .kind = TableColumn::Kind::name, .width = name_width, .indent = 2},
      {.title = "A", .width = bytes_width},
      {.title = "B", .width = bytes_width},
      {.title = "change", .width = change_width}};
  if (!is_text) columns.push_back({.title = "", .kind = TableColumn::Kind::name});
  return Table(std::move(columns));
}

void add_row(Table& table, const std::string& name, const Change& change, bool is_owner, bool is_text) {
  TableRow& row = table.add(
      {name, bytes_cell(change.before), bytes_cell(change.after), number_cell(signed_bytes(change.bytes()))});
  const char* mark = !is_owner ? "" : change.before == 0 ? "new" : change.after == 0 ? "gone" : "";
  if (is_text) {
    row.mark = mark;
  } else {
    row.cells.emplace_back(mark);
  }
}

std::string only_in(const char* which, const std::vector<std::string>& names, size_t top) {
  if (names.empty()) return "";
  const auto end = names.begin() + static_cast<ptrdiff_t>(std::min(top, names.size()));
  std::string text = fmt::format("only in {}: {}", which, fmt::join(names.begin(), end, ", "));
  if (end != names.end()) text += fmt::format(", and {} more", format_count(names.size() - top));
  return text;
}

// What was not shown of a part; "" where all was.
std::string rest_text(const PartDiff& part, size_t shown, bool is_owners) {
  if (shown == part.changes.size()) return "";
  std::string text = "and " + counted(part.changes.size() - shown, "smaller change");
  if (!is_owners) return text;
  int64_t rest = 0;
  for (size_t i = shown; i < part.changes.size(); ++i) rest += part.changes[i].bytes();
  return text + ", together " + signed_bytes(rest);
}

// `style`: of text; null in the other forms.
void add_part(Table& table, size_t index, const PartDiff& part, size_t top, const TextStyle* style) {
  if (part.changes.empty() && part.only_before.empty() && part.only_after.empty()) return;
  table.add_title(diff_parts[index].title);
  const bool is_owners = diff_parts[index].is_owners;
  const size_t shown = std::min(top, part.changes.size());
  for (size_t i = 0; i < shown; ++i)
    add_row(table, shown_name(index, part.changes[i].name), part.changes[i], is_owners, style != nullptr);
  const std::string rest = rest_text(part, shown, is_owners);
  if (style && !rest.empty()) table.add_text("  " + rest + "\n");
  if (!style && !rest.empty()) table.add_note(rest);
  std::string lines;
  for (const std::string& only : {only_in("A", part.only_before, top), only_in("B", part.only_after, top)}) {
    if (style) lines += wrap(only, 2, *style);
    if (!style && !only.empty()) table.add_note(only);
  }
  if (style) table.add_text(lines + "\n");
}

Table device_table(const DeviceDiff& diff, size_t top, const std::string& title, const TextStyle* style) {
  Table table = change_table(title, style != nullptr);
  for (size_t i = 0; i < diff_part_count; ++i) add_part(table, i, diff.parts[i], top, style);
  return table;
}

// What is not in both, a line for each reason.
std::vector<std::string> not_compared(const DeviceDiff& diff) {
  std::vector<std::string> lines;
  auto add = [&](const char* where, auto is_missing) {
    std::vector<std::string> names;
    for (size_t i = 0; i < diff_part_count; ++i) {
      if (is_missing(diff.parts[i])) names.emplace_back(diff_parts[i].title);
    }
    if (!names.empty()) lines.push_back(fmt::format("not compared, as {}: {}", where, joined(names, "; ")));
  };
  using Part = const PartDiff&;
  add("A does not have it", [](Part part) { return !part.in_before && part.in_after; });
  add("B does not have it", [](Part part) { return part.in_before && !part.in_after; });
  add("neither has it", [](Part part) { return !part.in_before && !part.in_after; });
  return lines;
}

// Of a device without a change.
std::string empty_text(const DeviceDiff& diff) {
  const bool anything = std::any_of(std::begin(diff.parts), std::end(diff.parts),
                                    [](const PartDiff& part) { return part.compared(); });
  return anything ? "nothing differs" : "there is nothing that both of them say";
}

std::string file_line(const char* which, const std::string& file, const std::string& kind,
                      const TextStyle& style) {
  const std::string name = fmt::format("{}  {}", which, printable(file));
  return fmt::format("{} ({})\n", fitted(name, style.width - kind.size() - 3, style), kind);
}

// Without a title for its rows where there are none.
std::string device_text(const DeviceDiff& diff, size_t top, const std::string& title,
                        const TextStyle& style) {
  std::string missing;
  for (const std::string& line : not_compared(diff)) missing += wrap(line, 0, style);
  if (diff.is_empty()) return (title.empty() ? "" : title + ": ") + empty_text(diff) + "\n" + missing;
  return device_table(diff, top, title, &style).text(style) + missing;
}

std::string devices_only_in(const char* which, const std::vector<int32_t>& devices) {
  if (devices.empty()) return "";
  return fmt::format("only in {}: device {}", which, fmt::join(devices, ", device "));
}

Document diff_document(const Diff& diff, size_t top) {
  Document document(fmt::format("What changed from {} to {}", diff.file_before, diff.file_after));
  document.add_list({fmt::format("A: {} ({})", diff.file_before, diff.kind_before),
                     fmt::format("B: {} ({})", diff.file_after, diff.kind_after)});
  for (const DeviceDiff& device : diff.devices) {
    if (diff.of_several) document.add_heading("Device " + std::to_string(device.device));
    if (device.is_empty()) document.add_text(empty_text(device));
    document.add_table(device_table(device, top, "", nullptr));
    document.add_list(not_compared(device));
  }
  document.add_text(devices_only_in("A", diff.only_before));
  document.add_text(devices_only_in("B", diff.only_after));
  return document;
}

}  // namespace

std::string diff_text(const Diff& diff, size_t top, const TextStyle& style) {
  std::string text = file_line("A", diff.file_before, diff.kind_before, style) +
                     file_line("B", diff.file_after, diff.kind_after, style) + "\n";
  if (!diff.of_several) return text + device_text(diff.devices.front(), top, "", style);
  std::string devices;
  for (const DeviceDiff& device : diff.devices) {
    if (!devices.empty() && !devices.ends_with("\n\n")) devices += "\n";
    devices += device_text(device, top, "device " + std::to_string(device.device), style);
  }
  std::string only = wrap(devices_only_in("A", diff.only_before), 0, style) +
                     wrap(devices_only_in("B", diff.only_after), 0, style);
  if (!only.empty() && !devices.empty() && !devices.ends_with("\n\n")) devices += "\n";
  return text + devices + only;
}

std::string diff_markdown(const Diff& diff, size_t top) { return diff_document(diff, top).markdown(); }

std::string diff_html(const Diff& diff, size_t top) { return diff_document(diff, top).html(); }

}  // namespace torchmem
