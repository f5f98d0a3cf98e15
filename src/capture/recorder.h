#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "capture/owners.h"
#include "capture/stream_writer.h"
#include "request/recording.h"

namespace torchmem::capture {

// What the allocator said at its last out-of-memory, in bytes.
struct OutOfMemory {
  int device = 0;
  std::uint64_t requested_bytes = 0;  // what the operator wanted, rounded as the allocator does
  std::uint64_t segment_bytes = 0;    // the segment it would have asked the device for
  std::uint64_t limit_bytes = 0;      // the allocator's limit, or the device's total
  std::uint64_t device_free_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t largest_free_block_bytes = 0;
};

// Records what the CUDA caching allocator does, for the rest of the process (trackers cannot be detached):
// every event with its stack, whose its block is, phases with their statistics, what the virtual GPU
// assumed.
//
// CUDA must be initialised before `start`. The writer must outlive the process's use of CUDA.
class Recorder {
 public:
  struct Options {
    StreamWriter* writer = nullptr;  // must be set
    int device = 0;                  // the device whose statistics the phases report
    Recording recording = Recording::owners;
    bool program = false;  // of someone else's, not the engine (see Owners)
    // In every other iteration alone, so that what recording costs can be measured within one run. The trace
    // has holes then.
    bool in_turns = false;
  };

  // Once a process; later calls return the same recorder.
  static Recorder& start(const Options& options);
  // Nothing is recorded any more: for a child after fork, which has no right to the parent's stream.
  static void stop();

  // Resets the allocator's peaks, so that the phase's are its own.
  void begin_phase(std::string name, std::optional<int> iteration = {}, std::optional<int> micro = {});
  // Writes the phase's record and everything before it.
  void end_phase();
  // Writes the final snapshot.
  void finish();

  const std::string& phase() const { return phase_; }
  std::optional<int> iteration() const { return iteration_; }
  // Null when owners are not recorded.
  Owners* owners();
  std::optional<OutOfMemory> last_out_of_memory() const;

 private:
  explicit Recorder(const Options& options);
  void take_turns();

  int device_;
  bool in_turns_;
  std::string phase_;
  std::optional<int> iteration_;
  std::optional<int> micro_;
  std::int64_t phase_start_us_ = 0;
};

}  // namespace torchmem::capture
