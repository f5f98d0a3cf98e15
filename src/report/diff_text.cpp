#include <algorithm>

#include "report/table.h"
#include "report/text.h"
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

void add_row(Table& table, const std::string& name, const Change& change, bool is_owner) {
  TableRow& row = table.add(
      {name, bytes_cell(change.before), bytes_cell(change.after), number_cell(signed_bytes(change.bytes()))});
  if (is_owner) row.mark = change.before == 0 ? "new" : change.after == 0 ? "gone" : "";
}

std::string only_in(const char* which, const std::vector<std::string>& names, size_t top,
                    const TextStyle& style) {
  if (names.empty()) return "";
  std::string text = std::string("only in ") + which + ":";
  for (size_t i = 0; i < names.size() && i < top; ++i) text += (i == 0 ? " " : ", ") + names[i];
  if (names.size() > top) text += ", and " + format_count(names.size() - top) + " more";
  return wrap(text, 2, style);
}

void add_part(Table& table, size_t index, const PartDiff& part, size_t top, const TextStyle& style) {
  if (part.changes.empty() && part.only_before.empty() && part.only_after.empty()) return;
  table.add_text(std::string(diff_parts[index].title) + "\n");
  size_t shown = std::min(top, part.changes.size());
  for (size_t i = 0; i < shown; ++i) {
    const Change& change = part.changes[i];
    add_row(table, shown_name(index, change.name), change, diff_parts[index].is_owners);
  }
  if (shown < part.changes.size()) {
    std::string text = "  and " + counted(part.changes.size() - shown, "smaller change");
    if (diff_parts[index].is_owners) {
      int64_t rest = 0;
      for (size_t i = shown; i < part.changes.size(); ++i) rest += part.changes[i].bytes();
      text += ", together " + signed_bytes(rest);
    }
    table.add_text(text + "\n");
  }
  table.add_text(only_in("A", part.only_before, top, style) + only_in("B", part.only_after, top, style) +
                 "\n");
}

// What is not in both.
std::string not_compared(const DeviceDiff& diff, const TextStyle& style) {
  std::string text;
  auto add = [&](const char* where, auto is_missing) {
    std::string names;
    for (size_t i = 0; i < diff_part_count; ++i) {
      if (is_missing(diff.parts[i])) names += (names.empty() ? "" : "; ") + std::string(diff_parts[i].title);
    }
    if (!names.empty()) text += wrap("not compared, as " + std::string(where) + ": " + names, 0, style);
  };
  using Part = const PartDiff&;
  add("A does not have it", [](Part part) { return !part.in_before && part.in_after; });
  add("B does not have it", [](Part part) { return part.in_before && !part.in_after; });
  add("neither has it", [](Part part) { return !part.in_before && !part.in_after; });
  return text;
}

std::string file_line(const char* which, const std::string& file, const std::string& kind,
                      const TextStyle& style) {
  return fitted(std::string(which) + "  " + printable(file), style.width - kind.size() - 3, style) + " (" +
         kind + ")\n";
}

// Without a title for its rows where there are none.
std::string device_text(const DeviceDiff& diff, size_t top, const std::string& title,
                        const TextStyle& style) {
  std::string missing = not_compared(diff, style);
  if (diff.is_empty()) {
    bool anything = std::any_of(std::begin(diff.parts), std::end(diff.parts),
                                [](const PartDiff& part) { return part.compared(); });
    return (title.empty() ? "" : title + ": ") +
           (anything ? "nothing differs\n" : "there is nothing that both of them say\n") + missing;
  }
  Table table({{.title = title, .kind = TableColumn::Kind::name, .width = name_width, .indent = 2},
               {.title = "A", .width = bytes_width},
               {.title = "B", .width = bytes_width},
               {.title = "change", .width = change_width}});
  for (size_t i = 0; i < diff_part_count; ++i) add_part(table, i, diff.parts[i], top, style);
  return table.text(style) + missing;
}

std::string devices_only_in(const char* which, const std::vector<int32_t>& devices, const TextStyle& style) {
  if (devices.empty()) return "";
  std::string text;
  for (int32_t device : devices) text += (text.empty() ? "device " : ", device ") + std::to_string(device);
  return wrap("only in " + std::string(which) + ": " + text, 0, style);
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
  std::string only =
      devices_only_in("A", diff.only_before, style) + devices_only_in("B", diff.only_after, style);
  if (!only.empty() && !devices.empty() && !devices.ends_with("\n\n")) devices += "\n";
  return text + devices + only;
}

}  // namespace torchmem
