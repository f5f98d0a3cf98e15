#include <algorithm>

#include "report/text.h"
#include "torchmem/bytes.h"
#include "torchmem/diff.h"
#include "torchmem/report.h"

namespace torchmem {

namespace {

constexpr size_t name_width = 32;
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

std::string row(const std::string& name, const Change& change, bool is_owner) {
  const char* mark = !is_owner ? "" : change.before == 0 ? "  new" : change.after == 0 ? "  gone" : "";
  return "  " + pad_right(shorten(name, name_width), name_width) +
         pad_left(format_bytes(change.before), bytes_width) +
         pad_left(format_bytes(change.after), bytes_width) +
         pad_left(signed_bytes(change.bytes()), change_width) + mark + "\n";
}

std::string only_in(const char* which, const std::vector<std::string>& names, size_t top) {
  if (names.empty()) return "";
  std::string text = std::string("only in ") + which + ":";
  for (size_t i = 0; i < names.size() && i < top; ++i) text += (i == 0 ? " " : ", ") + names[i];
  if (names.size() > top) text += ", and " + format_count(names.size() - top) + " more";
  return wrap(text, 2);
}

std::string part_text(size_t index, const PartDiff& part, size_t top) {
  std::string text;
  size_t shown = std::min(top, part.changes.size());
  for (size_t i = 0; i < shown; ++i) {
    const Change& change = part.changes[i];
    text += row(shown_name(index, change.name), change, diff_parts[index].is_owners);
  }
  if (shown < part.changes.size()) {
    text += "  and " + counted(part.changes.size() - shown, "smaller change");
    if (diff_parts[index].is_owners) {
      int64_t rest = 0;
      for (size_t i = shown; i < part.changes.size(); ++i) rest += part.changes[i].bytes();
      text += ", together " + signed_bytes(rest);
    }
    text += "\n";
  }
  text += only_in("A", part.only_before, top) + only_in("B", part.only_after, top);
  return text.empty() ? "" : std::string(diff_parts[index].title) + "\n" + text + "\n";
}

// What is not in both.
std::string not_compared(const DeviceDiff& diff) {
  std::string text;
  auto add = [&](const char* where, auto is_missing) {
    std::string names;
    for (size_t i = 0; i < diff_part_count; ++i) {
      if (is_missing(diff.parts[i])) names += (names.empty() ? "" : "; ") + std::string(diff_parts[i].title);
    }
    if (!names.empty()) text += wrap("not compared, as " + std::string(where) + ": " + names, 0);
  };
  using Part = const PartDiff&;
  add("A does not have it", [](Part part) { return !part.in_before && part.in_after; });
  add("B does not have it", [](Part part) { return part.in_before && !part.in_after; });
  add("neither has it", [](Part part) { return !part.in_before && !part.in_after; });
  return text;
}

std::string file_line(const char* which, const std::string& file, const std::string& kind) {
  return shorten(std::string(which) + "  " + file, report_width - kind.size() - 3) + " (" + kind + ")\n";
}

// Without a title for its rows where there are none.
std::string device_text(const DeviceDiff& diff, size_t top, const std::string& title) {
  std::string missing = not_compared(diff);
  if (diff.is_empty()) {
    bool anything = std::any_of(std::begin(diff.parts), std::end(diff.parts),
                                [](const PartDiff& part) { return part.compared(); });
    return (title.empty() ? "" : title + ": ") +
           (anything ? "nothing differs\n" : "there is nothing that both of them say\n") + missing;
  }
  std::string text = pad_right(title, name_width + 2) + pad_left("A", bytes_width) +
                     pad_left("B", bytes_width) + pad_left("change", change_width) + "\n";
  for (size_t i = 0; i < diff_part_count; ++i) text += part_text(i, diff.parts[i], top);
  return text + missing;
}

std::string devices_only_in(const char* which, const std::vector<int32_t>& devices) {
  if (devices.empty()) return "";
  std::string text;
  for (int32_t device : devices) text += (text.empty() ? "device " : ", device ") + std::to_string(device);
  return wrap("only in " + std::string(which) + ": " + text, 0);
}

}  // namespace

std::string diff_text(const Diff& diff, size_t top) {
  std::string text = file_line("A", diff.file_before, diff.kind_before) +
                     file_line("B", diff.file_after, diff.kind_after) + "\n";
  if (!diff.of_several) return text + device_text(diff.devices.front(), top, "");
  std::string devices;
  for (const DeviceDiff& device : diff.devices) {
    if (!devices.empty() && !devices.ends_with("\n\n")) devices += "\n";
    devices += device_text(device, top, "device " + std::to_string(device.device));
  }
  std::string only = devices_only_in("A", diff.only_before) + devices_only_in("B", diff.only_after);
  if (!only.empty() && !devices.empty() && !devices.ends_with("\n\n")) devices += "\n";
  return text + devices + only;
}

}  // namespace torchmem
