#include "capture/source_place.h"

#include <atomic>
#include <cstdio>
#include <exception>
#include <utility>

namespace torchmem::capture {
namespace {

using torch::jit::SourceRange;

std::function<void(const std::string&)>& teller() {
  static auto* tell = new std::function<void(const std::string&)>(
      [](const std::string& text) { std::fprintf(stderr, "torchmem: %s\n", text.c_str()); });
  return *tell;
}

void tell_damage() {
  static std::atomic<bool> is_told{false};
  if (is_told.exchange(true)) return;
  teller()(
      "The lines of the model's source are unknown: the debug records in its archive (.debug_pkl) are "
      "damaged. "
      "Everything else is not affected; save the model again to have its lines.");
}

std::optional<SourcePlace> place_of(const SourceRange& range) {
  const auto where = range.file_line_col();
  if (!where || std::get<0>(*where).empty()) return std::nullopt;
  return SourcePlace{std::get<0>(*where), std::get<1>(*where)};
}

std::optional<SourcePlace> original_place(const SourceRange& range, std::size_t start) {
  const auto original = SourceRange(range.source(), start, range.end()).findSourceRangeThatGenerated();
  return original ? place_of(*original) : std::nullopt;
}

// The record of a called function's name has no file. That of its arguments' parenthesis is the call's, and
// so is that of the statement's begin.
std::optional<SourcePlace> place_of_call(const SourceRange& range) {
  const auto text = range.text().str();
  if (const auto parenthesis = text.find('('); parenthesis != std::string::npos) {
    if (auto place = original_place(range, range.start() + parenthesis)) return place;
  }
  const auto before = range.source()->text_str().substr(0, range.start()).str();
  const auto line = before.rfind('\n');
  const auto statement = before.find_first_not_of(' ', line == std::string::npos ? 0 : line + 1);
  return statement == std::string::npos ? std::nullopt : original_place(range, statement);
}

}  // namespace

std::optional<SourcePlace> source_place(const SourceRange& range) {
  if (!range.source()) return std::nullopt;
  try {
    const auto original = range.findSourceRangeThatGenerated();
    if (!original) return place_of(range);
    if (auto place = place_of(*original)) return place;
    return place_of_call(range);
  } catch (const std::exception&) {
    tell_damage();
    return std::nullopt;
  }
}

void on_damaged_lines(std::function<void(const std::string&)> tell) { teller() = std::move(tell); }

}  // namespace torchmem::capture
