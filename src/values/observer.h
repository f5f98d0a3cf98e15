#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>

namespace torchmem::values {

// Which values are computed beside the virtual device.
enum class Mode {
  none,   // none: what the host wrote comes back until a kernel writes there
  small,  // those of small tensors, on the CPU
  all,    // all, on the CPU
};
// "none", "small", "all"; nothing for any other word.
std::optional<Mode> parse_mode(const std::string& word);

// From now on every operator that writes device memory is followed: what it computes of known values is
// computed on the CPU too and put into the virtual device's memory, and what nobody knows is forgotten
// there. Sizes that PyTorch reads back in an operator (nonzero, unique) are answered. Does nothing on a real
// device. Once a process, before anything is given to the device.
//
// A RecordFunction observer: inputs are looked at when an operator begins, since it may overwrite them and
// they are not there at its end; no reference to a device tensor outlives that look, so that memory is freed
// when it would be without.
void follow_values(Mode mode);

// Whose value the host is just reading, on this thread.
struct Reading {
  std::string op;  // the innermost operator, "" where the host reads by itself
  c10::ScalarType dtype = c10::ScalarType::Byte;
  // An operator reads the size of its result, or its result: this number, known if it was computed from
  // known values.
  std::optional<std::int64_t> answer;
  bool is_known = false;
  // A program or a model asks whether it is true.
  bool is_truth = false;
  // A status that PyTorch checks, as of a solver: a healthy one, no matter what.
  bool is_status = false;
};
Reading current_reading();

// What a graph was given while it was captured, as the virtual device keeps it.
void launch_captured(void* work);
void drop_captured(void* work);

}  // namespace torchmem::values
