#include "torchmem/fit_search.h"

#include <algorithm>
#include <cmath>

namespace torchmem {

namespace {

constexpr uint64_t first_step = 32;   // the second size, as a multiple of the least one
constexpr uint64_t most_growth = 16;  // of a size over the largest that fits
constexpr uint64_t least_window = 4;
constexpr uint64_t most_window = 12;
constexpr uint64_t most_unevenness = 8;

}  // namespace

FitSearch::FitSearch(const FitBounds& bounds, uint64_t capacity)
    : multiple_(std::max<uint64_t>(bounds.multiple, 1)),
      least_(std::max<uint64_t>((bounds.least + multiple_ - 1) / multiple_, 1)),
      most_(bounds.most / multiple_),
      check_(bounds.check),
      exhaustive_(bounds.exhaustive),
      capacity_(capacity) {}

void FitSearch::add(uint64_t size, bool fits, uint64_t reserved, uint64_t allocated) {
  trials_[size / multiple_] = {fits, reserved, allocated};
}

std::vector<uint64_t> FitSearch::next(size_t count) {
  std::vector<uint64_t> sizes = choose(std::max<size_t>(count, 1));
  for (uint64_t& size : sizes) size *= multiple_;
  return sizes;
}

std::vector<uint64_t> FitSearch::choose(size_t count) {
  if (least_ > most_) return {};
  std::optional<uint64_t> largest = largest_index();
  if (exhaustive_) {
    std::optional<uint64_t> failure = first_failure_above(largest.value_or(least_ - 1));
    uint64_t end = failure ? largest.value_or(least_ - 1) + window() : most_;
    return untried(least_, std::min(end, most_), count);
  }
  if (trials_.empty()) {
    std::vector<uint64_t> first = {least_};
    uint64_t second = std::min(most_, least_ * first_step);
    if (count > 1 && second > least_) first.push_back(second);
    return first;
  }
  // Not the smallest, but a larger one might: a size may fail for a reason of its own, and needs are not
  // monotone.
  if (!largest) return untried(least_, std::min(most_, least_ + window()), count);
  uint64_t low = *largest;
  if (low >= most_) return {};
  std::optional<uint64_t> failure = first_failure_above(low);
  std::optional<uint64_t> predicted = predict();
  if (!failure) {
    uint64_t high = low > most_ / most_growth ? most_ : low * most_growth;
    uint64_t center = std::clamp(predicted.value_or(low * 2), low + 1, high);
    return around(center, std::max<uint64_t>(1, center / 64), low + 1, most_, count);
  }
  uint64_t width = *failure - low - 1;  // untried sizes in between
  if (width > count) {
    // Interpolated as long as that pays.
    bool pays = last_width_ == 0 || width <= last_width_ / 4;
    last_width_ = width;
    if (predicted && pays) {
      uint64_t center = std::clamp(*predicted, low + 1, *failure - 1);
      return around(center, std::max<uint64_t>(1, width / 64), low + 1, *failure - 1, count);
    }
    last_width_ = 0;
    return spread(low + 1, *failure - 1, count);
  }
  uint64_t end = most_ - low > window() ? low + window() : most_;
  return untried(low + 1, end, count);
}

std::vector<uint64_t> FitSearch::untried(uint64_t low, uint64_t high, size_t count) const {
  std::vector<uint64_t> result;
  for (uint64_t index = low; index <= high && result.size() < count; ++index) {
    if (!trials_.contains(index)) result.push_back(index);
  }
  return result;
}

// Nearest to the center first: center, one step above, one below, ...
std::vector<uint64_t> FitSearch::around(uint64_t center, uint64_t step, uint64_t low, uint64_t high,
                                        size_t count) const {
  std::vector<uint64_t> result;
  auto take = [&](uint64_t index) {
    if (index < low || index > high || trials_.contains(index)) return;
    if (std::find(result.begin(), result.end(), index) == result.end()) result.push_back(index);
  };
  for (uint64_t i = 0; result.size() < count && i <= 2 * count; ++i) {
    if (i == 0) take(center);
    uint64_t distance = (i + 1) * step;
    if (result.size() < count && high - center >= distance) take(center + distance);
    if (result.size() < count && center - low >= distance) take(center - distance);
  }
  return result.empty() ? untried(low, high, count) : result;
}

std::vector<uint64_t> FitSearch::spread(uint64_t low, uint64_t high, size_t count) const {
  std::vector<uint64_t> result;
  uint64_t parts = count + 1;
  for (uint64_t i = 1; i <= count; ++i) {
    uint64_t index = low + (high - low) / parts * i + (high - low) % parts * i / parts;
    if (!trials_.contains(index) && (result.empty() || result.back() != index)) result.push_back(index);
  }
  return result;
}

// Where a line through the two largest sizes that fit reaches the capacity.
std::optional<uint64_t> FitSearch::predict() const {
  const Trial* upper = nullptr;
  uint64_t upper_index = 0;
  for (auto entry = trials_.rbegin(); entry != trials_.rend(); ++entry) {
    const auto& [index, trial] = *entry;
    if (!trial.fits) continue;
    if (!upper) {
      upper = &trial;
      upper_index = index;
      continue;
    }
    if (trial.reserved >= upper->reserved || capacity_ <= upper->reserved) continue;
    double slope =
        static_cast<double>(upper->reserved - trial.reserved) / static_cast<double>(upper_index - index);
    double more = static_cast<double>(capacity_ - upper->reserved) / slope;
    return more < static_cast<double>(most_ - upper_index) ? upper_index + static_cast<uint64_t>(more)
                                                           : most_;
  }
  return std::nullopt;
}

std::optional<uint64_t> FitSearch::first_failure_above(uint64_t index) const {
  for (auto entry = trials_.upper_bound(index); entry != trials_.end(); ++entry) {
    if (!entry->second.fits) return entry->first;
  }
  return std::nullopt;
}

std::optional<uint64_t> FitSearch::largest_index() const {
  for (auto entry = trials_.rbegin(); entry != trials_.rend(); ++entry) {
    if (entry->second.fits) return entry->first;
  }
  return std::nullopt;
}

uint64_t FitSearch::window() const {
  if (check_) return std::max<uint64_t>(*check_, 1);
  return std::clamp(room_by_allocated().value_or(unevenness()), least_window, most_window);
}

// How many sizes above the largest that fits may fit by their allocated bytes, which grow evenly, going by
// the line through the upper half of what was measured.
std::optional<uint64_t> FitSearch::room_by_allocated() const {
  std::optional<uint64_t> largest = largest_index();
  if (!largest || capacity_ == 0) return std::nullopt;
  const Trial& upper = trials_.at(*largest);
  auto lower = trials_.lower_bound(*largest / 2);
  while (lower->first < *largest && !lower->second.fits) ++lower;
  if (lower->first == *largest || lower->second.allocated == 0 || upper.allocated <= lower->second.allocated)
    return std::nullopt;
  double slope = static_cast<double>(upper.allocated - lower->second.allocated) /
                 static_cast<double>(*largest - lower->first);
  uint64_t left = capacity_ - std::min(capacity_, upper.allocated);
  return static_cast<uint64_t>(std::min(static_cast<double>(left) / slope, static_cast<double>(most_window)));
}

// Twice the sizes by which what was measured is off a line through the upper half of it.
uint64_t FitSearch::unevenness() const {
  std::optional<uint64_t> largest = largest_index();
  if (!largest) return least_window;
  double count = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  auto each = [&](auto visit) {
    for (const auto& [index, trial] : trials_) {
      if (trial.fits && index >= *largest / 2)
        visit(static_cast<double>(index), static_cast<double>(trial.reserved));
    }
  };
  each([&](double x, double y) {
    count += 1;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  });
  double spread = count * sum_xx - sum_x * sum_x;
  if (count < 3 || spread <= 0) return least_window;
  double slope = (count * sum_xy - sum_x * sum_y) / spread;
  double start = (sum_y - slope * sum_x) / count;
  if (slope <= 0) return most_unevenness;
  double error = 0;
  each([&](double x, double y) { error = std::max(error, std::fabs(y - start - slope * x)); });
  double sizes = std::min(std::ceil(2 * error / slope), static_cast<double>(most_unevenness));
  return std::clamp(static_cast<uint64_t>(sizes), least_window, most_unevenness);
}

std::optional<uint64_t> FitSearch::largest() const {
  std::optional<uint64_t> index = largest_index();
  if (!index) return std::nullopt;
  return *index * multiple_;
}

uint64_t FitSearch::checked_through() const {
  uint64_t index = largest_index().value_or(least_ - 1);
  while (true) {
    auto above = trials_.find(index + 1);
    if (above == trials_.end() || above->second.fits) return index * multiple_;
    ++index;
  }
}

bool FitSearch::at_most() const { return largest_index() == most_; }

}  // namespace torchmem
