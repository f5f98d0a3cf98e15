#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "capture/frame.h"

namespace torchmem::capture {

// Index of a stack that was written with `StreamWriter::stack`; `no_stack` is written as "-".
using StackId = std::int64_t;
inline constexpr StackId no_stack = -1;

// The same of a tensor that was written with `StreamWriter::tensor`.
using TensorId = std::int64_t;
inline constexpr TensorId no_tensor = -1;

// One event of the caching allocator. `action` is the snapshot's word (alloc, free_requested, ...), a text
// that lives for good. Sizes in bytes.
struct AllocatorEvent {
  std::string_view action;
  int device = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  std::uint64_t time_us = 0;
  StackId stack = no_stack;
};

// Writes the event stream: plain text, one record a line, in the order of the calls, from any thread.
// A call only notes what is to be written: the text is made and written by a thread of the writer's own, at
// `flush`, and at destruction; a reader ignores an incomplete last line. A write that fails (a full disk)
// ends all writing; `error_number` tells, nothing throws after `open`.
class StreamWriter {
 public:
  // Creates or truncates the file. Throws std::system_error naming the path.
  static std::unique_ptr<StreamWriter> open(const std::string& path);
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  // A JSON merge patch onto the run's facts (M).
  void facts(const nlohmann::json& patch);
  // A stack of frames (F); ids rise from 0.
  StackId stack(const Stack& frames);
  // An allocator event (E); returns its index, from 0.
  std::uint64_t event(const AllocatorEvent& event);
  // A tensor (T); ids rise from 0.
  TensorId tensor(std::string_view name, std::string_view dtype, const std::vector<std::int64_t>& shape);
  // Whose the block of the alloc event of that index is (O).
  void owner(std::uint64_t event_index, std::string_view category, TensorId tensor, StackId saved_by);
  // A phase's end (P); "events" is added. Flushes.
  void phase(nlohmann::json record);
  // An assumption (V).
  void assumption(const nlohmann::json& record);
  // The final snapshot (Z). Flushes.
  void final_snapshot(const nlohmann::json& record);
  // The error that ended the run (X). Flushes.
  void error(const nlohmann::json& record);

  void flush();
  // For the handler of a signal that ends the process: has the writer's thread write what there is, and
  // waits for it, a few seconds at most. False when the signal interrupted a call of this class's own: the
  // handler has to return, and gets the signal once more as soon as that call is done. (The handler of a
  // fault cannot return; what was not written yet is lost then.) Does only what a handler may.
  bool flush_from_signal(int number) noexcept;
  std::uint64_t events() const;
  // errno of the write that failed, 0 while all is well.
  int error_number() const;

 private:
  // An E record, or an O record, or a line that is text already; small, as there are many.
  struct Record {
    enum class Kind : std::uint8_t { event, owner, text } kind = Kind::text;
    AllocatorEvent event;         // owner: `action` is the category
    std::uint64_t number = 0;     // owner: the event's index; text: the line's index in `Batch::lines`
    TensorId tensor = no_tensor;  // owner
  };
  struct Batch {
    std::vector<Record> records;
    std::vector<std::string> lines;
  };

  class Lock;

  explicit StreamWriter(int fd);
  void line(std::string text);
  void text_record(char kind, const nlohmann::json& json);
  void note(const Record& record);
  // The thread that writes a batch when it is large.
  void run();
  void write_batch() noexcept;
  void write_records(const Batch& batch) noexcept;
  void write_out(std::string_view text) noexcept;

  mutable std::mutex mutex_;  // of what is noted
  Batch batch_;
  std::uint64_t events_ = 0;
  StackId stacks_ = 0;
  TensorId tensors_ = 0;

  std::mutex write_mutex_;  // of the file; taken before `mutex_`
  Batch written_;           // keeps its memory
  std::string buffer_;
  int fd_;
  std::atomic<int> error_number_{0};

  sem_t work_;  // posted for the thread: a batch is large, a handler asks, or it is to end
  std::atomic<bool> ends_{false};
  std::atomic<unsigned> asked_{0};     // flushes that handlers asked for
  std::atomic<unsigned> answered_{0};  // those that are done
  std::thread thread_;
};

}  // namespace torchmem::capture
