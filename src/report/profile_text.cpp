#include <algorithm>

#include "report/accuracy.h"
#include "report/breakdown_text.h"
#include "report/phase_table.h"
#include "report/run_header.h"
#include "report/shortage.h"
#include "report/style.h"
#include "report/text.h"
#include "torchmem/bytes.h"
#include "torchmem/report.h"

namespace torchmem {

namespace {

bool has_expandable(const Analysis& analysis) {
  if (!analysis.at_peak()) return false;
  const auto& segments = analysis.at_peak()->segments;
  return std::any_of(segments.begin(), segments.end(),
                     [](const SegmentUsage& share) { return share.segment.is_expandable; });
}

std::string peak_lines(const Analysis& analysis, const TextStyle& style) {
  const Peak& peak = *analysis.peak();
  std::string where;
  if (peak.phase) where = ", in " + phase_name(*peak.phase, peak.iteration ? &*peak.iteration : nullptr);
  std::string text;
  auto line = [&](const char* name, const std::string& value, std::optional<Tint> tint = {}) {
    text += named_line({.width = 16}, name, printable(value), style, tint);
  };
  line("peak allocated", bytes_exactly(peak.allocated) + where, Tint::bold);
  if (peak.reserved) line("peak reserved", bytes_exactly(*peak.reserved));
  if (peak.device_bytes)
    line("peak on device", bytes_exactly(*peak.device_bytes) + ", with context and modules");
  if (!peak.point) return text;
  const AllocatorTotals& totals = peak.point->totals;
  uint64_t inactive = totals.reserved - totals.active;
  uint64_t cached = inactive - totals.inactive_split;
  if (inactive == 0) return text;
  line("fragmentation", format_bytes(totals.inactive_split) + " at the peak, free parts of segments in use");
  line("cached", format_bytes(cached) + (has_expandable(analysis) ? ", in expandable" : ", in whole") +
                     " segments; largest free piece " + format_bytes(peak.point->largest_inactive));
  return text;
}

// The peak's views, or why there are none.
std::string peak_views(const Analysis& analysis, const TextStyle& style) {
  if (!analysis.at_peak()) {
    if (!analysis.at_end()) return "";
    std::string text = wrap("Only the end is known: " + analysis.gap() + ".", 0, style);
    return "\n" + breakdown_text(analysis, *analysis.at_end(), text, style);
  }
  uint64_t traced = analysis.at_peak()->totals.allocated;
  if (traced == 0) return "";
  std::string text = "\n";
  if (analysis.peak() && analysis.peak()->allocated != traced) {
    text += wrap("The trace's own peak is " + bytes_exactly(traced) + "; what follows is of that.", 0, style);
  }
  return breakdown_text(analysis, *analysis.at_peak(), text, style);
}

}  // namespace

std::string profile_text(const Analysis& analysis, const TextStyle& style) {
  const Run& run = analysis.run();
  std::string text;
  if (std::string doubt = doubt_text(run); !doubt.empty()) text = wrap(doubt, 0, style) + "\n";
  text += run_header(run, style) + phase_text(run, style);
  if (analysis.peak()) text += peak_lines(analysis, style);
  text += peak_views(analysis, style);
  text += moments_text(analysis, style);
  if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
  text += growth_text(analysis, style);
  if (run.error) {
    std::string where;
    if (run.error->phase) {
      where = " in " + phase_name(*run.error->phase, run.error->iteration ? &*run.error->iteration : nullptr);
    }
    bool memory = run.error->kind == ErrorKind::out_of_memory;
    std::string title = (memory ? "out of memory" : "ended") + where + ":";
    text += tinted(style, Tint::red, fitted(printable(title), style.width, style)) + "\n" +
            wrap(without_vain_advice(run.error->message), 2, style) + "\n";
  }
  return text + accuracy_text(run, style);
}

}  // namespace torchmem
