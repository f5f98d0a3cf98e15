// What the memory was made of at a moment, as tables for people.
#pragma once

#include <string>

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

// Of a category, operator, module or line; "(unknown)" for "".
std::string owner_name(const std::string& name);

}  // namespace torchmem
