// A baseline: what an earlier run took, and what that was measured on. A gate compares with it. Sizes in
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchmem/run_result.h"

namespace torchmem {

// Device: reserved, context and modules.
enum class Metric : uint8_t { allocated, reserved, device };
constexpr Metric metrics[] = {Metric::allocated, Metric::reserved, Metric::device};
std::string_view name_of(Metric metric);
std::optional<Metric> metric_from(std::string_view name);

// The highest of each metric, where it was measured.
struct MetricBytes {
  std::optional<uint64_t> allocated;
  std::optional<uint64_t> reserved;
  std::optional<uint64_t> device;

  std::optional<uint64_t>& operator[](Metric metric);
  const std::optional<uint64_t>& operator[](Metric metric) const;
  bool operator==(const MetricBytes&) const = default;
};

using BytesByName = std::map<std::string, uint64_t>;

// How many modules are kept, those with most bytes; of the rest nothing is known but that it is no more.
constexpr size_t kept_modules = 20;

// The numbers of a run that a gate may look at. What was not measured is absent.
struct GateNumbers {
  MetricBytes peak;
  std::optional<BytesByName> categories;      // at the peak of allocated
  std::optional<BytesByName> modules;         // at the same moment, by path
  std::optional<BytesByName> pools;           // of segments, at the peak of reserved: "large pool"
  std::optional<BytesByName> uses;            // the same bytes by category, and what was free
  std::map<std::string, MetricBytes> phases;  // "load", "forward:1", "forward:1.0" of a micro-batch

  bool operator==(const GateNumbers&) const = default;
};
GateNumbers gate_numbers(const RunResult& outcome);

struct Baseline {
  GateNumbers numbers;
  std::string torchmem;                         // the version; "" where the file does not say
  std::map<std::string, std::string> software;  // versions by name
  std::map<std::string, std::string> device;    // "kind", "name", "profile"
  // An object: what was asked for, inputs as on the command line. It stays JSON, since nothing here asks what
  // is in it: an option that torchmem gains is compared like all others, one that only another version has
  // is named, and what a program was given has fields of its own.
  nlohmann::json arguments = nlohmann::json::object();

  bool operator==(const Baseline&) const = default;
};

// Of a run, with what it says of itself.
Baseline baseline_of(const RunResult& outcome);

// Whether two baselines can be compared. Throws Error(bad_input) where one is of a model and the other of a
// program, and naming the field in which device or arguments differ; returns a warning for each difference of
// the software, with nothing in it that a terminal would act on. `name` is the first one's file.
std::vector<std::string> compare_baselines(const Baseline& baseline, const Baseline& now,
                                           const std::string& name);

// Reads a baseline's file, "torchmem.baseline/1" (docs/schema/baseline.json). Throws Error(bad_input) that
// says what is wrong with it: no JSON, not a baseline, of a newer torchmem, damaged.
Baseline read_baseline(std::string_view text, const std::string& name);

// That file; and its numbers alone.
nlohmann::json baseline_to_json(const Baseline& baseline);
nlohmann::json numbers_to_json(const GateNumbers& numbers);

}  // namespace torchmem
