#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "capture/frame.h"

namespace torchmem::capture {

/// Index of a stack that was written with `StreamWriter::stack`; `kNoStack` is written as "-".
using StackId = std::int64_t;
inline constexpr StackId kNoStack = -1;

/// The same of a tensor that was written with `StreamWriter::tensor`.
using TensorId = std::int64_t;
inline constexpr TensorId kNoTensor = -1;

/// One event of the caching allocator. `action` is the snapshot's word (alloc, free_requested, ...). Sizes in
/// bytes.
struct AllocatorEvent {
  std::string_view action;
  int device = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  std::uint64_t time_us = 0;
  StackId stack = kNoStack;
};

/// Writes the event stream: plain text, one record a line, in the order of the calls, from any thread.
/// Records are buffered and reach the file when the buffer is full, at `flush`, and at destruction; a reader
/// ignores an incomplete last line. A write that fails (a full disk) ends all writing; `error_number` tells,
/// nothing throws after `open`.
class StreamWriter {
 public:
  /// Creates or truncates the file. Throws std::system_error naming the path.
  static std::unique_ptr<StreamWriter> open(const std::string& path);
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  /// A JSON merge patch onto the run's facts (M).
  void facts(const nlohmann::json& patch);
  /// A stack of frames (F); ids rise from 0.
  StackId stack(const Stack& frames);
  /// An allocator event (E); returns its index, from 0.
  std::uint64_t event(const AllocatorEvent& event);
  /// The block that the alloc event of that index really got (B).
  void block(std::uint64_t event_index, std::uint64_t bytes);
  /// A tensor (T); ids rise from 0.
  TensorId tensor(std::string_view name, std::string_view dtype, const std::vector<std::int64_t>& shape);
  /// Whose the block of the alloc event of that index is (O).
  void owner(std::uint64_t event_index, std::string_view category, TensorId tensor, StackId saved_by);
  /// A phase's end (P); "events" is added. Flushes.
  void phase(nlohmann::json record);
  /// A fidelity finding (V).
  void finding(const nlohmann::json& record);
  /// The final snapshot (Z). Flushes.
  void final_snapshot(const nlohmann::json& record);
  /// The error that ended the run (X). Flushes.
  void error(const nlohmann::json& record);

  void flush();
  /// Writes what is buffered without taking the lock: for a signal handler that ends the process.
  void flush_from_signal() noexcept;
  std::uint64_t events() const;
  /// errno of the write that failed, 0 while all is well.
  int error_number() const;

 private:
  explicit StreamWriter(int fd);
  void record(char kind, const nlohmann::json& json);
  void append(std::string_view text);
  void write_out() noexcept;

  mutable std::mutex mutex_;
  std::string buffer_;
  int fd_;
  int error_number_ = 0;
  std::uint64_t events_ = 0;
  StackId stacks_ = 0;
  TensorId tensors_ = 0;
};

}  // namespace torchmem::capture
