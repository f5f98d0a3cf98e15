// What the memory was made of at a moment, as tables for people.
#pragma once

#include <string>

#include "report/table.h"
#include "torchmem/analysis.h"
#include "torchmem/report.h"

namespace torchmem {

constexpr size_t default_top = 4;

// The tables of categories, modules, operators and lines; with a `top` in the style, those of blocks and
// segments as well. Starts with `heading`.
std::string breakdown_text(const Analysis& analysis, const Breakdown& breakdown, const std::string& heading,
                           const TextStyle& style);

// The same of each moment that was asked for, each with its sums.
std::string moments_text(const Analysis& analysis, const TextStyle& style);

// What grows with each iteration, by whom, and when that will be too much.
std::string growth_text(const Analysis& analysis, const TextStyle& style);

// Rows of tables of owners: name, bytes, share of the whole. Of shares the first `top`, and the sum of the
// others.
TableRow& add_share(Table& table, const std::string& name, uint64_t bytes, uint64_t whole);
void add_categories(Table& table, const Breakdown& breakdown);
void add_shares(Table& table, const std::vector<UsageEntry>& shares, uint64_t whole, size_t top);

// Of a category, operator, module or line; "(unknown)" for "".
std::string owner_name(const std::string& name);

}  // namespace torchmem
