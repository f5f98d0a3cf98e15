#include "torchmem/advice.h"

#include <algorithm>
#include <functional>
#include <set>

#include "run/run_info_json.h"
#include "torchmem/peak.h"

namespace torchmem {

using nlohmann::json;

namespace {

// Room for what levers save together beyond what each saves by itself.
constexpr double hope = 1.25;

bool is_same(uint64_t base, uint64_t now) {
  uint64_t apart = base > now ? base - now : now - base;
  return apart < base / 1000;
}

int64_t saved_or_least(const std::optional<uint64_t>& base, const std::optional<uint64_t>& now) {
  return saved(base, now).value_or(INT64_MIN);
}

bool better(const VariantResult& base, const VariantResult& a, const VariantResult& b) {
  int64_t allocated_a = saved_or_least(base.allocated, a.error ? std::nullopt : a.allocated);
  int64_t allocated_b = saved_or_least(base.allocated, b.error ? std::nullopt : b.allocated);
  if (allocated_a != allocated_b) return allocated_a > allocated_b;
  int64_t reserved_a = saved_or_least(base.reserved, a.error ? std::nullopt : a.reserved);
  int64_t reserved_b = saved_or_least(base.reserved, b.error ? std::nullopt : b.reserved);
  if (reserved_a != reserved_b) return reserved_a > reserved_b;
  return a.price < b.price;
}

int place(Verdict verdict) {
  if (verdict == Verdict::does_not_apply) return 2;
  return verdict == Verdict::fails ? 1 : 0;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::saves:
      return "saves";
    case Verdict::does_nothing:
      return "does_nothing";
    case Verdict::harms:
      return "harms";
    case Verdict::fails:
      return "fails";
    case Verdict::does_not_apply:
      return "does_not_apply";
  }
  return "fails";
}

VariantResult variant_result_of(std::string name, const Run& run) {
  VariantResult trial;
  trial.name = std::move(name);
  trial.error = run.error;
  if (std::optional<Peak> peak = find_peak(run)) {
    trial.allocated = peak->allocated;
    trial.reserved = peak->reserved;
    if (peak->phase) {
      trial.phase = *peak->phase;
      if (peak->iteration) trial.phase += " of iteration " + std::to_string(*peak->iteration);
    }
  }
  for (const Phase& phase : run.phases) {
    if (phase.name == "load" || !phase.allocated) continue;
    trial.allocated_after_load = std::max(trial.allocated_after_load.value_or(0), phase.allocated->peak);
  }
  trial.rewritten = info_json(run.info).value("levers", json());
  trial.decided = first_deciding(run.assumptions) != nullptr;
  return trial;
}

std::optional<int64_t> saved(const std::optional<uint64_t>& base, const std::optional<uint64_t>& now) {
  if (!base || !now) return std::nullopt;
  return static_cast<int64_t>(*base) - static_cast<int64_t>(*now);
}

Verdict verdict_of(const LeverResult& lever, const VariantResult& base) {
  if (!lever.why_not.empty()) return Verdict::does_not_apply;
  const VariantResult& trial = lever.trial;
  bool wrong =
      lever.check.is_object() && lever.check.value("made", false) && !lever.check.value("equal", false);
  if (trial.error || wrong || !trial.allocated || !base.allocated) return Verdict::fails;
  if (!is_same(*base.allocated, *trial.allocated))
    return *trial.allocated < *base.allocated ? Verdict::saves : Verdict::harms;
  if (!base.reserved || !trial.reserved || is_same(*base.reserved, *trial.reserved))
    return Verdict::does_nothing;
  return *trial.reserved < *base.reserved ? Verdict::saves : Verdict::harms;
}

void rank(Advice& advice) {
  const VariantResult& base = advice.base;
  std::stable_sort(advice.levers.begin(), advice.levers.end(),
                   [&](const LeverResult& a, const LeverResult& b) {
                     int place_a = place(verdict_of(a, base));
                     int place_b = place(verdict_of(b, base));
                     if (place_a != place_b) return place_a < place_b;
                     return place_a == 0 && better(base, a.trial, b.trial);
                   });
  std::stable_sort(advice.combinations.begin(), advice.combinations.end(),
                   [&](const VariantResult& a, const VariantResult& b) { return better(base, a, b); });
}

std::vector<std::vector<std::string>> goal_candidates(const Advice& advice, uint64_t limit_bytes,
                                                      size_t most) {
  struct Useful {
    const LeverResult* lever;
    int64_t saved;  // of reserved, which the limit is on; of allocated where that is more
  };
  std::vector<Useful> useful;
  for (const LeverResult& lever : advice.levers) {
    Verdict verdict = verdict_of(lever, advice.base);
    if (verdict == Verdict::does_not_apply || verdict == Verdict::fails) continue;
    int64_t bytes = std::max(saved(advice.base.reserved, lever.trial.reserved).value_or(0),
                             saved(advice.base.allocated, lever.trial.allocated).value_or(0));
    if (bytes > 0) useful.push_back({&lever, bytes});
  }
  struct Set {
    std::vector<std::string> names;
    int price = 0;
    int64_t saved = 0;
    std::set<std::string> groups;
  };
  std::vector<Set> sets;
  std::function<void(size_t, const Set&)> grow = [&](size_t from, const Set& set) {
    for (size_t i = from; i < useful.size(); ++i) {
      const LeverResult& lever = *useful[i].lever;
      if (set.groups.count(lever.group)) continue;
      Set larger = set;
      larger.names.push_back(lever.trial.name);
      larger.price += lever.trial.price;
      larger.saved += useful[i].saved;
      larger.groups.insert(lever.group);
      sets.push_back(larger);
      if (larger.names.size() < 4) grow(i + 1, larger);
    }
  };
  grow(0, {});
  uint64_t needed = advice.base.reserved.value_or(advice.base.allocated.value_or(0));
  std::erase_if(sets, [&](const Set& set) {
    return static_cast<double>(needed) - hope * static_cast<double>(set.saved) >
           static_cast<double>(limit_bytes);
  });
  std::stable_sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) {
    if (a.price != b.price) return a.price < b.price;
    if (a.names.size() != b.names.size()) return a.names.size() < b.names.size();
    return a.saved > b.saved;
  });
  std::vector<std::vector<std::string>> names;
  for (const Set& set : sets) {
    if (names.size() == most) break;
    names.push_back(set.names);
  }
  return names;
}

}  // namespace torchmem
