#include "report/breakdown_text.h"

#include <spdlog/fmt/ranges.h>

#include <algorithm>

#include "report/module_tree.h"
#include "report/style.h"
#include "report/table.h"
#include "report/text.h"
#include "text/words.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace {

constexpr size_t default_modules = 6;
constexpr size_t indent = 2;
constexpr size_t bytes_width = 13;
constexpr size_t share_width = 9;
constexpr size_t narrowest_name = 18;

// With its type, where both fit into the width.
std::string module_name(const ShownModule& shown, size_t width = SIZE_MAX) {
  std::string name = shown.depth == 0 ? "(model)" : std::string(2 * shown.depth, ' ') + shown.name;
  std::string type = short_type(shown.module->type);
  std::string both = type.empty() ? name : name + " " + type;
  return columns_of(both) <= width ? both : name;
}

// The tables of one moment: name, bytes, share of the whole, perhaps a second number, and a bar. Their
// columns are below each other, with as much room for names as the narrowest of them leaves.
class Tables {
 public:
  Tables(const Breakdown& breakdown, const TextStyle& style)
      : breakdown_(breakdown),
        style_(style),
        top_(style.top.value_or(default_top)),
        modules_(modules_to_show(breakdown.root, style.top.value_or(default_modules))) {
    for (const ShownModule& module : modules_) names_ = std::max(names_, columns_of(module_name(module)));
    for (const auto* list : {&breakdown.ops, &breakdown.lines}) {
      for (size_t i = 0; i < list->size() && i < top_; ++i)
        names_ = std::max(names_, columns_of(printable((*list)[i].name)));
    }
    if (style.cuts) names_ = module_table(names_).width_of(0, style) - indent;
  }

  std::string text() const {
    std::string text = category_table().text(style_);
    if (modules_.size() > 1) text += module_table(names_).text(style_);
    return text + share_table("by operator", breakdown_.ops, TableColumn::Kind::name) +
           share_table("by line", breakdown_.lines, TableColumn::Kind::path);
  }

 private:
  Table table(const char* title, TableColumn::Kind kind = TableColumn::Kind::name) const {
    return Table(
        {{.title = title, .kind = kind, .width = indent + names_, .indent = indent, .least = narrowest_name},
         {.title = "bytes", .width = bytes_width},
         {.title = "share", .width = share_width}},
        breakdown_.totals.allocated);
  }

  Table category_table() const {
    Table categories = table("by category");
    add_categories(categories, breakdown_);
    return categories;
  }

  Table module_table(size_t names) const {
    Table modules({{.title = "by module",
                    .kind = TableColumn::Kind::name,
                    .width = indent + names,
                    .indent = indent,
                    .least = narrowest_name},
                   {.title = "bytes", .width = bytes_width},
                   {.title = "share", .width = share_width},
                   {.title = "own", .width = bytes_width, .is_optional = true}},
                  breakdown_.totals.allocated);
    for (const ShownModule& shown : modules_) {
      add_share(modules, module_name(shown, names), shown.module->inclusive, breakdown_.totals.allocated)
          .cells.push_back(bytes_cell(shown.module->own));
    }
    return modules;
  }

  std::string share_table(const char* title, const std::vector<UsageEntry>& shares,
                          TableColumn::Kind kind) const {
    bool all_unknown = shares.size() == 1 && shares.front().name.empty();
    if (shares.empty() || all_unknown) return "";
    Table owners = table(title, kind);
    add_shares(owners, shares, breakdown_.totals.allocated, top_);
    return owners.text(style_);
  }

  const Breakdown& breakdown_;
  const TextStyle& style_;
  size_t top_;
  std::vector<ShownModule> modules_;
  size_t names_ = narrowest_name;
};

std::string shape_text(const TensorInfo& tensor) {
  if (tensor.dtype.empty()) return "";
  if (tensor.shape.empty()) return tensor.dtype + ":scalar";
  return fmt::format("{}:{}", tensor.dtype, fmt::join(tensor.shape, "x"));
}

std::string moment_of(const Analysis& analysis, uint64_t event) {
  const Phase* phase = analysis.phase_of(event);
  if (!phase) return "event " + format_count(event);
  return phase->iteration ? fmt::format("{}:{}", phase->name, *phase->iteration) : phase->name;
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
  const BlockHistory& history = analysis.history();
  std::vector<std::string> parts = {history.ops()[block.op], history.modules()[block.module],
                                    history.lines()[block.line]};
  std::erase(parts, "");
  std::string from = block.born == no_event ? "before the trace" : moment_of(analysis, block.born);
  std::string to = block.freed == no_event ? "on" : "to " + moment_of(analysis, block.freed);
  parts.push_back(fmt::format("from {} {}", from, to));
  return joined(parts);
}

// A number, what it is of, and in a second line more about that.
std::string entry(uint64_t bytes, const std::string& what, const std::string& more, const TextStyle& style) {
  std::string start = std::string(indent, ' ') + pad_left(format_bytes(bytes), bytes_width - 2) + "  ";
  size_t room = style.width - start.size();
  return start + fitted(printable(what), room, style) + "\n" + std::string(start.size(), ' ') +
         tinted(style, Tint::dim, fitted(printable(more), room, style)) + "\n";
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
    const SegmentUsage& share = breakdown.segments[i];
    if (share.inactive == 0) break;
    std::string held = "nothing is in it: empty_cache() would release it";
    if (!share.holders.empty()) {
      const BlockLife& largest = *share.holders.front();
      held = fmt::format("held open by {}, the largest {}: {}", counted(share.holders.size(), "block"),
                         format_bytes(largest.size), block_name(analysis, largest));
    }
    text +=
        entry(share.inactive,
              fmt::format("free of {}, {}{} pool, largest piece {}", format_bytes(share.segment.total_size),
                          share.segment.is_expandable ? "expandable " : "",
                          share.segment.is_large ? "large" : "small", format_bytes(share.largest_inactive)),
              held, style);
  }
  if (text.empty()) return "";
  return tinted(style, Tint::bold, "segments with the most free in them") + "\n" + text;
}

}  // namespace

TableRow& add_share(Table& table, const std::string& name, uint64_t bytes, uint64_t whole) {
  TableRow& row = table.add({name, bytes_cell(bytes), number_cell(percent(bytes, whole))});
  row.part = bytes;
  return row;
}

void add_categories(Table& table, const Breakdown& breakdown) {
  const uint64_t whole = breakdown.totals.allocated;
  uint64_t requested = 0;
  for (size_t i = 0; i < category_count; ++i) {
    const UsageEntry& share = breakdown.categories[i];
    requested += share.requested;
    if (share.bytes > 0)
      add_share(table, share.name, share.bytes, whole).tint = tint_of(static_cast<Category>(i));
  }
  add_share(table, "rounding, in these", whole - requested, whole).is_among = true;
}

void add_shares(Table& table, const std::vector<UsageEntry>& shares, uint64_t whole, size_t top) {
  uint64_t rest = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (i < top) {
      add_share(table, owner_name(shares[i].name), shares[i].bytes, whole);
    } else {
      rest += shares[i].bytes;
    }
  }
  if (shares.size() <= top) return;
  add_share(table, fmt::format("and {} more", format_count(shares.size() - top)), rest, whole).is_dim = true;
}

std::string owner_name(const std::string& name) { return name.empty() ? "(unknown)" : name; }

std::string breakdown_text(const Analysis& analysis, const Breakdown& breakdown, const std::string& heading,
                           const TextStyle& style) {
  std::string text = heading;
  if (breakdown.totals.allocated > 0) text += Tables(breakdown, style).text();
  if (!style.top) return text;
  return text + tensor_list(analysis, breakdown, *style.top, style) +
         segment_list(analysis, breakdown, *style.top, style);
}

std::string moments_text(const Analysis& analysis, const TextStyle& style) {
  std::string text;
  for (const Breakdown& breakdown : analysis.points()) {
    const Point& point = breakdown.point;
    std::string where;  // a phase's own end says it already
    if (point.phase && !point.name.starts_with(*point.phase)) {
      where = fmt::format(" ({})", phase_name(*point.phase, point.iteration ? &*point.iteration : nullptr));
    }
    std::string heading =
        "\n" + tinted(style, Tint::bold, fitted(printable("at " + point.name + where), style.width, style)) +
        "\n";
    auto line = [&](const char* name, const std::string& value) {
      heading += named_line({.width = 14, .indent = 2}, name, value, style);
    };
    const AllocatorTotals& totals = breakdown.totals;
    line("allocated", bytes_exactly(totals.allocated));
    line("reserved", bytes_exactly(totals.reserved));
    line("fragmentation", format_bytes(totals.inactive_split) + ", free parts of segments in use");
    const uint64_t cached = totals.reserved - totals.active - totals.inactive_split;
    line("cached", fmt::format("{}; largest free piece {}", format_bytes(cached),
                               format_bytes(breakdown.largest_inactive)));
    text += breakdown_text(analysis, breakdown, heading, style);
  }
  return text;
}

std::string growth_text(const Analysis& analysis, const TextStyle& style) {
  if (!analysis.growth()) return "";
  const Growth& growth = *analysis.growth();
  std::string text = fmt::format("grows by {} an iteration, from iteration {} on{}",
                                 format_bytes(growth.bytes_per_iteration), growth.first_iteration,
                                 growth.phase.empty() ? "" : ", mostly in " + growth.phase);
  text = tinted(style, Tint::yellow, fitted(text, style.width, style)) + "\n";
  auto owner = [&](const char* what, const std::vector<UsageEntry>& shares) {
    if (shares.empty() || shares.front().name.empty()) return;
    text += named_line({.width = 14, .indent = 2}, what,
                       fmt::format("{}, {} of it", printable(shares.front().name),
                                   percent(shares.front().bytes, growth.bytes_per_iteration)),
                       style);
  };
  owner("category", growth.categories);
  owner("module", growth.modules);
  owner("operator", growth.ops);
  owner("line", growth.lines);
  if (std::optional<uint64_t> left = analysis.iterations_left()) {
    text += wrap(fmt::format("{}, {}, is reached after at most {}",
                             analysis.has_limit() ? "the limit" : "what the device has",
                             format_bytes(*analysis.room()), counted(*left, "more iteration")),
                 2, style);
  }
  return text + "\n";
}

}  // namespace torchmem
