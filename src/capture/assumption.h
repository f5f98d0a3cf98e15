#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "capture/call_site.h"

namespace torchmem::capture {

// One thing that was assumed, at one place.
struct Assumption {
  const char* kind;
  std::string name;
  std::string problem;
  CallSite site;
  int how = 0;  // of a workspace, as the virtual device says it (vgpu/device/assumptions.h)
  std::string decides;
  std::string taken_for;  // the first time
  std::string what;       // of a copy in bulk

  auto key() const { return std::tie(name, problem, site.op, site.module, site.line, how); }
  bool operator<(const Assumption& other) const { return key() < other.key(); }
};

// Notes it; whether it is the first of its kind.
bool add_assumption(Assumption assumption, std::uint64_t bytes);

// Whether there was none of its kind yet.
bool is_new_assumption(const Assumption& assumption);

}  // namespace torchmem::capture
