// Two results compared: what each says in bytes, and the differences.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

// The parts of a result that are compared, in the order of every report. Amounts are measured one by one:
// what is missing was not measured. Owners share the bytes at the peak of allocated: who is missing has none.
struct DiffPart {
  const char* name;   // in JSON
  const char* title;  // in text
  bool is_owners;
};
constexpr size_t diff_part_count = 8;
extern const DiffPart diff_parts[diff_part_count];

// What one result says of a device, by part: bytes by name. Names of phases are those of moments
// ("forward:1.0"), the owner "" is the unknown one, a module's bytes are its own. A part that the result does
// not have, or all of whose owners are unknown in it, is absent.
using DeviceAccount = std::array<std::optional<std::map<std::string, uint64_t>>, diff_part_count>;

struct Account {
  std::string file;
  std::string kind;                          // "run file", "memory snapshot", "JSON report"
  std::map<int32_t, DeviceAccount> devices;  // at least one
};

// Of a run file or a snapshot of PyTorch. Throws Error(bad_input) for amounts that no device can have.
Account account_of(const Run& run, const std::string& file);

// Of a JSON report, "torchmem.profile/1" or the one within a "torchmem.snapshot/1". Throws Error(bad_input)
// saying what is wrong with it.
Account account_of(const nlohmann::json& report, const std::string& file);

struct Change {
  std::string name;
  uint64_t before = 0;
  uint64_t after = 0;
  int64_t bytes() const { return static_cast<int64_t>(after) - static_cast<int64_t>(before); }
};

struct PartDiff {
  bool in_before = false;
  bool in_after = false;
  std::vector<Change> changes;  // that are not 0, the largest first, then by name
  // Amounts that only one of them has. None for owners.
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;

  bool compared() const { return in_before && in_after; }
};

struct DeviceDiff {
  int32_t device = 0;
  PartDiff parts[diff_part_count];

  // Nothing that was compared differs.
  bool is_empty() const;
};

struct Diff {
  std::string file_before;
  std::string kind_before;
  std::string file_after;
  std::string kind_after;
  // One of several devices has to be named, also where it is the only one that was compared.
  bool of_several = false;
  std::vector<DeviceDiff> devices;  // that both have
  std::vector<int32_t> only_before;
  std::vector<int32_t> only_after;

  bool is_empty() const;
};

// Device by device, or of `device` alone. Where each has one device, these are compared whatever their
// numbers. Throws Error(bad_usage) where one of them does not have the device that was asked for.
Diff compare(const Account& before, const Account& after, std::optional<int32_t> device = {});

}  // namespace torchmem
