#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report/document.h"
#include "report/fit_report.h"
#include "report/markup.h"
#include "report/table.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace {

// Of the picture, in its own units.
constexpr double width = 860;
constexpr double height = 340;
constexpr double left = 84;
constexpr double right = 16;
constexpr double top = 18;
constexpr double bottom = 40;

std::string line(const char* kind, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind,
                     x1, y1, x2, y2);
}

std::string label(const std::string& text, double x, double y, const char* anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     xml(text));
}

// At most seven of these go into `most`: 1, 2, 5, 10, 20, 50, ...
double round_step(double most) {
  double step = 1;
  for (int i = 0; step * 7 < most; ++i) step *= i % 3 == 1 ? 2.5 : 2;
  return step;
}

// The same for bytes, whose round numbers are powers of two.
double byte_step(double most) {
  double step = 1;
  while (step * 7 < most) step *= 2;
  return step;
}

std::string why_text(const FitPoint& point) {
  return point.ran_out ? "does not fit: " + point.why : point.why;
}

class Chart {
 public:
  explicit Chart(const FitResult& result) : result_(result), points_(fit_curve(result)) {
    for (const FitPoint& point : points_) {
      sizes_ = std::max(sizes_, static_cast<double>(point.size));
      bytes_ = std::max(
          bytes_, static_cast<double>(std::max(point.reserved.value_or(0), point.allocated.value_or(0))));
    }
    room_ = reservable(result);
    bytes_ = std::max(bytes_, static_cast<double>(room_.value_or(0))) * 1.06;
  }

  std::string svg() const {
    std::string text =
        fmt::format("<svg viewBox=\"0 0 {:.1f} {:.1f}\" role=\"img\" aria-label=\"Memory against size\">\n{}",
                    width, height, axes());
    if (room_) {
      double at = y(static_cast<double>(*room_));
      text += line("limit", left, at, width - right, at);
      text += label(result_.limit ? "the limit" : "what the device has for the allocator", left + 6, at - 5,
                    "start");
    }
    text += curve("reserved", &FitPoint::reserved) + curve("allocated", &FitPoint::allocated);
    for (const FitPoint& point : points_) {
      if (!point.fits) text += cross(point);
    }
    return text + "</svg>\n";
  }

 private:
  double x(double size) const { return left + (width - left - right) * size / std::max(sizes_, 1.0); }
  double y(double bytes) const {
    return height - bottom - (height - top - bottom) * bytes / std::max(bytes_, 1.0);
  }

  std::string axes() const {
    std::string text;
    for (double step = byte_step(bytes_), at = 0; at <= bytes_; at += step) {
      text += line("grid", left, y(at), width - right, y(at));
      text += label(format_bytes(static_cast<uint64_t>(at)), left - 8, y(at) + 4, "end");
    }
    for (double step = round_step(sizes_), at = 0; at <= sizes_; at += step)
      text += label(format_count(static_cast<uint64_t>(at)), x(at), height - bottom + 18, "middle");
    return text + label(result_.dimension, width - right, height - 4, "end");
  }

  std::string curve(const char* kind, std::optional<uint64_t> FitPoint::*of) const {
    std::string path;
    std::string dots;
    for (const FitPoint& point : points_) {
      if (!(point.*of)) continue;
      double at_x = x(static_cast<double>(point.size));
      double at_y = y(static_cast<double>(*(point.*of)));
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", at_x, at_y);
      dots += fmt::format(
          "<circle class=\"{0}\" r=\"3.5\" cx=\"{1:.1f}\" cy=\"{2:.1f}\"><title>{3} = {4}: {0} "
          "{5}</title></circle>\n",
          kind, at_x, at_y, xml(result_.dimension), format_count(point.size), bytes_exactly(*(point.*of)));
    }
    return path.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>\n{}", kind, path, dots);
  }

  std::string cross(const FitPoint& point) const {
    double at_x = x(static_cast<double>(point.size));
    double at_y = room_ ? y(static_cast<double>(*room_)) : top;
    return fmt::format("<g><title>{} = {} {}</title>\n{}{}</g>\n", xml(result_.dimension),
                       format_count(point.size), xml(why_text(point)),
                       line("refused", at_x - 5, at_y - 5, at_x + 5, at_y + 5),
                       line("refused", at_x - 5, at_y + 5, at_x + 5, at_y - 5));
  }

  const FitResult& result_;
  std::vector<FitPoint> points_;
  std::optional<uint64_t> room_;
  double sizes_ = 0;
  double bytes_ = 0;
};

std::string rows(const FitResult& result) {
  Table table({{.title = result.dimension},
               {.title = "allocated"},
               {.title = "reserved"},
               {.title = "", .kind = TableColumn::Kind::name}});
  for (const FitPoint& point : fit_curve(result)) {
    TableRow& row = table.add({format_count(point.size), bytes_cell(point.allocated),
                               bytes_cell(point.reserved), point.fits ? "" : why_text(point)});
    if (point.fits && result.largest == point.size) row.kind = "answer";
  }
  return table.html();
}

}  // namespace

std::string fit_html(const std::vector<FitResult>& results, const std::string& model) {
  std::string title = fmt::format("The largest {} of {}", results.front().dimension, model);
  std::string body = fmt::format("<section><pre>{}</pre></section>\n", xml(fit_answer_text(results)));
  for (const FitResult& result : results) {
    if (result.trials.empty()) continue;
    body += fmt::format(
        "<section>\n<h2>{}<span class=\"key\" style=\"background: var(--allocated)\"></span>allocated"
        "<span class=\"key\" style=\"background: var(--reserved)\"></span>reserved, at the peak</h2>\n"
        "{}{}</section>\n",
        xml(result.device), Chart(result).svg(), rows(result));
  }
  return html_page(title, body);
}

}  // namespace torchmem
