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
constexpr uint64_t most_probes = 8;
constexpr uint64_t exhaustive_at_once = 16;

// The number from `first` to `last` that the largest power of two divides.
uint64_t roundest(uint64_t first, uint64_t last) {
  uint64_t power = 1;
  while (power <= last / 2 && last / (power * 2) * (power * 2) >= first) power *= 2;
  return last / power * power;
}

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

std::vector<uint64_t> FitSearch::next() {
  std::vector<uint64_t> sizes = choose();
  for (uint64_t& size : sizes) size *= multiple_;
  return sizes;
}

std::vector<uint64_t> FitSearch::choose() {
  if (least_ > most_) return {};
  std::optional<uint64_t> largest = largest_index();
  if (exhaustive_) {
    std::optional<uint64_t> failure = first_failure_above(largest.value_or(least_ - 1));
    uint64_t end = failure ? largest.value_or(least_ - 1) + window() : most_;
    return untried(least_, std::min({end, most_, least_ + trials_.size() + exhaustive_at_once - 1}));
  }
  if (trials_.empty()) {
    std::vector<uint64_t> first = {least_};
    uint64_t second = std::min(most_, least_ * first_step);
    if (second > least_) first.push_back(second);
    return first;
  }
  // Not the smallest, but a larger one might: a size may fail for a reason of its own, and needs are not
  // monotone.
  if (!largest) return untried(least_, std::min(most_, least_ + window()));
  uint64_t low = *largest;
  if (low >= most_) return {};
  std::optional<uint64_t> failure = first_failure_above(low);
  std::optional<uint64_t> predicted = predict();
  if (!failure) {
    uint64_t high = low > most_ / most_growth ? most_ : low * most_growth;
    uint64_t center = std::clamp(predicted.value_or(low * 2), low + 1, high);
    return around(center, std::max<uint64_t>(1, center / 64), low + 1, most_);
  }
  uint64_t width = *failure - low - 1;  // untried sizes in between
  if (width > window()) {
    // Interpolated as long as that pays.
    bool pays = last_width_ == 0 || width <= last_width_ / 4;
    last_width_ = width;
    if (predicted && pays) {
      uint64_t center = std::clamp(*predicted, low + 1, *failure - 1);
      return around(center, std::max<uint64_t>(1, width / 64), low + 1, *failure - 1);
    }
    last_width_ = 0;
    return thirds(low + 1, *failure - 1);
  }
  if (std::vector<uint64_t> further = probes(low); !further.empty()) return further;
  return untried(low + 1, most_ - low > window() ? low + window() : most_);
}

std::vector<uint64_t> FitSearch::untried(uint64_t low, uint64_t high) const {
  std::vector<uint64_t> result;
  for (uint64_t index = low; index <= high; ++index) {
    if (!trials_.contains(index)) result.push_back(index);
  }
  return result;
}

// A center and the size one step above it, or below where that is too large.
std::vector<uint64_t> FitSearch::around(uint64_t center, uint64_t step, uint64_t low, uint64_t high) const {
  std::vector<uint64_t> result = {center};
  if (high - center >= step) {
    result.push_back(center + step);
  } else if (center - low >= step) {
    result.push_back(center - step);
  }
  return result;
}

std::vector<uint64_t> FitSearch::thirds(uint64_t low, uint64_t high) const {
  uint64_t third = (high - low) / 3;
  return {low + third, high - third};
}

// The roundest size of each eighth of those that may fit by their allocated memory but are not checked one by
// one; only of eighths of which none was run. Round ones since memory moves at round sizes, where tensors
// fill the allocator's blocks.
std::vector<uint64_t> FitSearch::probes(uint64_t low) const {
  double room = room_by_allocated().value_or(0);
  uint64_t start = low + window();
  double end = std::min(static_cast<double>(low) + room, static_cast<double>(most_));
  if (end <= static_cast<double>(start)) return {};
  uint64_t all = static_cast<uint64_t>(end) - start;
  uint64_t parts = std::min(all, most_probes);
  std::vector<uint64_t> result;
  for (uint64_t part = 0; part < parts; ++part) {
    uint64_t first = start + all / parts * part + all % parts * part / parts + 1;
    uint64_t last = start + all / parts * (part + 1) + all % parts * (part + 1) / parts;
    auto tried = trials_.lower_bound(first);
    if (tried == trials_.end() || tried->first > last) result.push_back(roundest(first, last));
  }
  return result;
}

// Where a line through the two largest sizes that fit reaches the capacity.
std::optional<uint64_t> FitSearch::predict() const {
  const VariantResult* upper = nullptr;
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
  std::optional<double> room = room_by_allocated();
  uint64_t sizes =
      room ? static_cast<uint64_t>(std::min(*room, static_cast<double>(most_window))) : unevenness();
  return std::clamp(sizes, least_window, most_window);
}

// How many sizes above the largest that fits may fit by their allocated bytes, which grow evenly, going by
// the line through the upper half of what was measured.
std::optional<double> FitSearch::room_by_allocated() const {
  std::optional<uint64_t> largest = largest_index();
  if (!largest || capacity_ == 0) return std::nullopt;
  const VariantResult& upper = trials_.at(*largest);
  auto lower = trials_.lower_bound(*largest / 2);
  while (lower->first < *largest && !lower->second.fits) ++lower;
  if (lower->first == *largest || lower->second.allocated == 0 || upper.allocated <= lower->second.allocated)
    return std::nullopt;
  double slope = static_cast<double>(upper.allocated - lower->second.allocated) /
                 static_cast<double>(*largest - lower->first);
  uint64_t left = capacity_ - std::min(capacity_, upper.allocated);
  return static_cast<double>(left) / slope;
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
