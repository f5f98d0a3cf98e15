#include "report/breakdown_text.h"

#include <algorithm>

#include "report/module_tree.h"
#include "report/style.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace {

constexpr size_t default_modules = 6;
constexpr size_t indent = 2;
constexpr size_t bytes_width = 13;
constexpr size_t share_width = 9;
constexpr size_t gap = 2;
constexpr size_t narrowest_name = 18;
constexpr size_t widest_bar = 40;
// What the numbers of a table of modules and the shortest bar that says something need.
constexpr size_t beside_names = indent + 2 * bytes_width + share_width + gap + 16;

// One table's columns: name, bytes, share of the whole, perhaps a second number, and a bar.
struct Columns {
  const TextStyle& style;
  size_t name = 0;
  uint64_t whole = 0;

  std::string start(const std::string& text, uint64_t bytes) const {
    return std::string(indent, ' ') + pad_right(shorten(printable(text), name), name) +
           pad_left(format_bytes(bytes), bytes_width) + pad_left(percent(bytes, whole), share_width);
  }
  std::string bar_of(uint64_t bytes, size_t used, Tint tint) const {
    size_t room = std::min(style.width - used - gap, widest_bar);
    std::string drawn = bar(style, bytes, whole, room);
    return drawn.empty() ? "" : std::string(gap, ' ') + tinted(style, tint, drawn);
  }
  std::string row(const std::string& text, uint64_t bytes, Tint tint) const {
    std::string line = start(text, bytes);
    return line + bar_of(bytes, columns_of(line), tint) + "\n";
  }
  std::string row_with_own(const std::string& text, uint64_t bytes, uint64_t own, Tint tint) const {
    std::string line = start(text, bytes) + pad_left(format_bytes(own), bytes_width);
    return line + bar_of(bytes, columns_of(line), tint) + "\n";
  }
  // A line that is no part of the sum.
  std::string note(const std::string& text, uint64_t bytes) const {
    return tinted(style, Tint::dim, start(text, bytes)) + "\n";
  }
  std::string head(const std::string& title, const std::string& second = "") const {
    std::string line = pad_right(title, indent + name) + pad_left("bytes", bytes_width) +
                       pad_left("share", share_width) + (second.empty() ? "" : pad_left(second, bytes_width));
    return tinted(style, Tint::bold, line) + "\n";
  }
};

// With its type, where both fit into the width.
std::string module_name(const ShownModule& shown, size_t width = SIZE_MAX) {
  std::string name = shown.depth == 0 ? "(model)" : std::string(2 * shown.depth, ' ') + shown.name;
  std::string type = short_type(shown.module->type);
  std::string both = type.empty() ? name : name + " " + type;
  return columns_of(both) <= width ? both : name;
}

// The lists' longest name, as far as there is room for it.
size_t name_width(const Breakdown& breakdown, const std::vector<ShownModule>& modules, size_t top,
                  const TextStyle& style) {
  size_t longest = narrowest_name;
  for (const ShownModule& module : modules) longest = std::max(longest, columns_of(module_name(module)));
  for (const auto* list : {&breakdown.ops, &breakdown.lines}) {
    for (size_t i = 0; i < list->size() && i < top; ++i) {
      longest = std::max(longest, columns_of((*list)[i].name));
    }
  }
  return std::min(longest, style.width - beside_names);
}

std::string category_table(const Breakdown& breakdown, const Columns& columns) {
  std::string text = columns.head("by category");
  uint64_t requested = 0;
  for (size_t i = 0; i < category_count; ++i) {
    const Share& share = breakdown.categories[i];
    requested += share.requested;
    auto category = static_cast<Category>(i);
    if (share.bytes == 0) continue;
    text += columns.row(std::string(name_of(category)), share.bytes, tint_of(category));
  }
  return text + columns.note("rounding, in these", columns.whole - requested);
}

std::string module_table(const std::vector<ShownModule>& modules, const Columns& columns) {
  if (modules.size() < 2) return "";
  std::string text = columns.head("by module", "own");
  for (const ShownModule& shown : modules) {
    text += columns.row_with_own(module_name(shown, columns.name), shown.module->inclusive, shown.module->own,
                                 Tint::cyan);
  }
  return text;
}

// Of a file's path its end says most.
std::string end_of(const std::string& text, size_t width) {
  if (columns_of(text) <= width) return text;
  size_t start = text.size() - std::min(text.size(), width - 3);
  while (start < text.size() && (static_cast<uint8_t>(text[start]) & 0xc0) == 0x80)
    ++start;  // whole characters
  return "..." + text.substr(start);
}

std::string share_table(const char* title, const std::vector<Share>& shares, size_t top,
                        const Columns& columns, bool are_paths = false) {
  bool all_unknown = shares.size() == 1 && shares.front().name.empty();
  if (shares.empty() || all_unknown) return "";
  std::string text = columns.head(title);
  uint64_t rest = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (i < top) {
      std::string name = owner_name(shares[i].name);
      text += columns.row(are_paths ? end_of(name, columns.name) : name, shares[i].bytes, Tint::cyan);
    } else {
      rest += shares[i].bytes;
    }
  }
  if (shares.size() <= top) return text;
  return text + columns.note("and " + format_count(shares.size() - top) + " more", rest);
}

std::string shape_text(const TensorInfo& tensor) {
  if (tensor.dtype.empty()) return "";
  std::string text = tensor.dtype + ":";
  for (size_t i = 0; i < tensor.shape.size(); ++i) text += (i ? "x" : "") + std::to_string(tensor.shape[i]);
  return tensor.shape.empty() ? text + "scalar" : text;
}

std::string moment_of(const Analysis& analysis, uint64_t event) {
  const Phase* phase = analysis.phase_of(event);
  if (!phase) return "event " + format_count(event);
  return phase->iteration ? phase->name + ":" + std::to_string(*phase->iteration) : phase->name;
}

// "exp_avg of conv1.weight f32:64x3x7x7, optimizer_state", with what is known of it.
std::string block_name(const Analysis& analysis, const BlockLife& block) {
  std::string text;
  auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  };
  if (block.tensor != no_tensor) {
    const TensorInfo& tensor = analysis.run().tensors[static_cast<size_t>(block.tensor)];
    add(tensor.name);
    add(shape_text(tensor));
  }
  return text + (text.empty() ? "" : ", ") + std::string(name_of(block.category));
}

std::string block_place(const Analysis& analysis, const BlockLife& block) {
  const Ledger& ledger = analysis.ledger();
  std::string text;
  auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  add(ledger.ops()[block.op]);
  add(ledger.modules()[block.module]);
  add(ledger.lines()[block.line]);
  std::string from = block.born == no_event ? "before the trace" : moment_of(analysis, block.born);
  add("from " + from + (block.freed == no_event ? " on" : " to " + moment_of(analysis, block.freed)));
  return text;
}

// A number, what it is of, and in a second line more about that.
std::string entry(uint64_t bytes, const std::string& what, const std::string& more, const TextStyle& style) {
  std::string start = std::string(indent, ' ') + pad_left(format_bytes(bytes), bytes_width - 2) + "  ";
  size_t room = style.width - start.size();
  return start + shorten(printable(what), room) + "\n" + std::string(start.size(), ' ') +
         tinted(style, Tint::dim, shorten(printable(more), room)) + "\n";
}

std::string tensor_list(const Analysis& analysis, const Breakdown& breakdown, size_t top,
                        const TextStyle& style) {
  if (breakdown.tensors.empty()) return "";
  std::string text = tinted(style, Tint::bold, "the largest blocks") + "\n";
  for (size_t i = 0; i < breakdown.tensors.size() && i < top; ++i) {
    const BlockLife& block = *breakdown.tensors[i];
    text += entry(block.size, block_name(analysis, block), block_place(analysis, block), style);
  }
  return text;
}

std::string segment_list(const Analysis& analysis, const Breakdown& breakdown, size_t top,
                         const TextStyle& style) {
  std::string text;
  for (size_t i = 0; i < breakdown.segments.size() && i < top; ++i) {
    const SegmentShare& share = breakdown.segments[i];
    if (share.inactive == 0) break;
    std::string held = "nothing is in it: empty_cache() would release it";
    if (!share.holders.empty()) {
      const BlockLife& largest = *share.holders.front();
      held = "held open by " + counted(share.holders.size(), "block") + ", the largest " +
             format_bytes(largest.size) + ": " + block_name(analysis, largest);
    }
    std::string pool = share.segment.is_expandable ? "expandable " : "";
    pool += share.segment.is_large ? "large pool" : "small pool";
    text += entry(share.inactive,
                  "free of " + format_bytes(share.segment.total_size) + ", " + pool + ", largest piece " +
                      format_bytes(share.largest_inactive),
                  held, style);
  }
  if (text.empty()) return "";
  return tinted(style, Tint::bold, "segments with the most free in them") + "\n" + text;
}

}  // namespace

std::string owner_name(const std::string& name) { return name.empty() ? "(unknown)" : name; }

std::string breakdown_text(const Analysis& analysis, const Breakdown& breakdown, const std::string& heading,
                           const TextStyle& style) {
  std::string text = heading;
  if (breakdown.totals.allocated > 0) {
    size_t top = style.top.value_or(default_top);
    size_t most_modules = style.top.value_or(default_modules);
    std::vector<ShownModule> modules = modules_to_show(breakdown.root, most_modules);
    Columns columns{style, name_width(breakdown, modules, top, style), breakdown.totals.allocated};
    text += category_table(breakdown, columns) + module_table(modules, columns) +
            share_table("by operator", breakdown.ops, top, columns) +
            share_table("by line", breakdown.lines, top, columns, true);
  }
  if (!style.top) return text;
  return text + tensor_list(analysis, breakdown, *style.top, style) +
         segment_list(analysis, breakdown, *style.top, style);
}

std::string moments_text(const Analysis& analysis, const TextStyle& style) {
  std::string text;
  for (const Breakdown& breakdown : analysis.moments()) {
    const Moment& moment = breakdown.moment;
    std::string where;  // a phase's own end says it already
    if (moment.phase && !moment.name.starts_with(*moment.phase)) {
      where = " (" + phase_name(*moment.phase, moment.iteration ? &*moment.iteration : nullptr) + ")";
    }
    std::string heading =
        "\n" + tinted(style, Tint::bold, shorten(printable("at " + moment.name + where), style.width)) + "\n";
    auto line = [&](const char* name, const std::string& value) {
      heading += "  " + pad_right(name, 14) + value + "\n";
    };
    const AllocatorTotals& totals = breakdown.totals;
    line("allocated", bytes_exactly(totals.allocated));
    line("reserved", bytes_exactly(totals.reserved));
    line("fragmentation", format_bytes(totals.inactive_split) + ", free parts of segments in use");
    line("cached", format_bytes(totals.reserved - totals.active - totals.inactive_split) +
                       "; largest free piece " + format_bytes(breakdown.largest_inactive));
    text += breakdown_text(analysis, breakdown, heading, style);
  }
  return text;
}

std::string growth_text(const Analysis& analysis, const TextStyle& style) {
  if (!analysis.growth()) return "";
  const Growth& growth = *analysis.growth();
  std::string text = "grows by " + format_bytes(growth.bytes_per_iteration) +
                     " an iteration, from iteration " + std::to_string(growth.first_iteration) + " on" +
                     (growth.phase.empty() ? "" : ", mostly in " + growth.phase);
  text = tinted(style, Tint::yellow, shorten(text, style.width)) + "\n";
  auto owner = [&](const char* what, const std::vector<Share>& shares) {
    if (shares.empty() || shares.front().name.empty()) return;
    text += shorten("  " + pad_right(what, 14) + printable(shares.front().name) + ", " +
                        percent(shares.front().bytes, growth.bytes_per_iteration) + " of it",
                    style.width) +
            "\n";
  };
  owner("category", growth.categories);
  owner("module", growth.modules);
  owner("operator", growth.ops);
  owner("line", growth.lines);
  if (std::optional<uint64_t> left = analysis.iterations_left()) {
    std::string what = analysis.has_limit() ? "the limit" : "what the device has";
    text += wrap(what + ", " + format_bytes(*analysis.room()) + ", is reached after at most " +
                     counted(*left, "more iteration"),
                 2);
  }
  return text + "\n";
}

}  // namespace torchmem
