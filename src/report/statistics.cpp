#include "report/statistics.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

namespace torchmem {

namespace {

constexpr double nanoseconds_in_ms = 1e6;

template <std::optional<Usage> Phase::*usage, uint64_t Usage::*member>
std::optional<uint64_t> usage_of(const Phase& phase) {
  const std::optional<Usage>& found = phase.*usage;
  return found ? std::optional((*found).*member) : std::nullopt;
}

std::optional<uint64_t> duration_of(const Phase& phase) {
  if (!phase.duration_ms || *phase.duration_ms < 0) return std::nullopt;
  return static_cast<uint64_t>(std::llround(*phase.duration_ms * nanoseconds_in_ms));
}

}  // namespace

const std::array<Statistic<Phase>, 5> phase_statistics = {{
    {"allocated_bytes", "allocated", Unit::bytes, usage_of<&Phase::allocated, &Usage::current>},
    {"peak_allocated_bytes", "peak", Unit::bytes, usage_of<&Phase::allocated, &Usage::peak>},
    {"reserved_bytes", "reserved", Unit::bytes, usage_of<&Phase::reserved, &Usage::current>},
    {"peak_reserved_bytes", "peak", Unit::bytes, usage_of<&Phase::reserved, &Usage::peak>},
    {"duration_ms", "ms", Unit::nanoseconds, duration_of},
}};

const std::array<Statistic<Peak>, 3> peak_statistics = {{
    {"allocated_bytes", "allocated", Unit::bytes,
     [](const Peak& peak) { return std::optional(peak.allocated); }, "peak allocated"},
    {"reserved_bytes", "reserved", Unit::bytes, [](const Peak& peak) { return peak.reserved; },
     "peak reserved"},
    {"device_bytes", "on device", Unit::bytes, [](const Peak& peak) { return peak.device_bytes; }},
}};

TableCell value_cell(Unit unit, std::optional<uint64_t> value) {
  if (unit == Unit::bytes || !value) return bytes_cell(value);
  return number_cell(fmt::format("{:.1f}", static_cast<double>(*value) / nanoseconds_in_ms));
}

}  // namespace torchmem
