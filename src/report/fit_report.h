// The largest size that fits, on one device or several.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/run_result.h"
#include "torchmem/text_style.h"

namespace torchmem {

struct SizeResult {
  uint64_t size = 0;
  RunResult outcome;
};

// One device's search.
struct FitResult {
  std::string device;  // as --device has it
  std::string dimension;
  uint64_t least = 1;                   // the smallest size that was allowed
  uint64_t multiple = 1;                // only multiples of it were allowed
  std::optional<uint64_t> largest;      // that was run and fits
  uint64_t checked_through = 0;         // every size above `largest` up to this one was run and does not fit
  bool at_most = false;                 // `largest` is the largest size that was allowed
  std::optional<uint64_t> limit;        // --limit: what the allocator may reserve, context excluded
  std::optional<uint64_t> capacity;     // the device's memory, context and modules included
  std::vector<SizeResult> trials;       // by size
  std::optional<SizeResult> unlimited;  // none fits: the least size, with memory enough
};

// One size of the curve of memory against size.
struct FitPoint {
  uint64_t size = 0;
  bool fits = false;
  bool ran_out = false;               // of one that does not fit: for want of memory
  std::optional<uint64_t> allocated;  // peaks; of a size that does not fit: absent
  std::optional<uint64_t> reserved;
  std::string why;  // of one that does not fit
};
std::vector<FitPoint> fit_curve(const FitResult& result);

// The bytes that the allocator may reserve: the limit, or the device's memory without context and modules.
// Absent when no size fitted and there is no limit.
std::optional<uint64_t> reservable(const FitResult& result);

// The first run by which an assumed value decided what ran, over all results; null where there is none.
const SizeResult* first_decided(const std::vector<FitResult>& results);

// One result: the answer, what was checked, why the next size does not fit, what was assumed. Several: a
// table.
std::string fit_answer_text(const std::vector<FitResult>& results, const TextStyle& style = {});

// That, and the curve where there is one result.
std::string fit_text(const std::vector<FitResult>& results, const TextStyle& style = {});

// A page with the curve of each result; `model` is what the reader calls it.
std::string fit_html(const std::vector<FitResult>& results, const std::string& model);

// "torchmem.fit/1" (docs/schema/fit.json).
nlohmann::json fit_json(const std::vector<FitResult>& results);

}  // namespace torchmem
