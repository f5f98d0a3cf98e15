#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mutex.h"

namespace torchmem::vgpu::nccl {

// What one rank of a communicator gives to the others: a file that only grows, which that rank writes and the
// others read. Nobody holds it open, so that a program that closes all its files, or forks, loses nothing.

enum class Lane : uint32_t { collective = 0, point_to_point = 1 };

constexpr int everybody = -1;

struct Record {
  uint32_t what = 0;       // the call: both sides must mean the same
  int32_t to = everybody;  // the rank that it is for
  Lane lane = Lane::collective;
  uint64_t sequence = 0;  // rises within a lane, from 0
  uint64_t bytes = 0;     // of the message
};

class LogWriter {
 public:
  // Makes the file.
  LogWriter(std::string path, int rank, int ranks);
  bool made() const { return made_; }
  bool mine() const { return getpid() == owner_; }
  // Appends the record and its payload, with the state of each byte. When that is not possible (the disk is
  // full, this process has written as much as it may) nothing is appended any more, and readers are told so:
  // what did not come is unknown. Does nothing in a child made by fork.
  void append(const Record& record, const void* payload, const unsigned char* states);
  // Nothing comes any more.
  void leave();

 private:
  void close_for_good(const char* reason);
  void flag(size_t field);

  std::string path_;
  bool made_ = false;
  bool closed_ = false;
  pid_t owner_ = 0;
  Mutex mutex_;
};

class LogReader {
 public:
  enum class Found {
    here,
    not_yet,
    unknown,    // the writer could not write it
    left,       // the writer gave up its communicator without it
    ended,      // the writer's process ended without it
    not_there,  // no such file: the rank has not joined
    broken,     // the file is not what a writer writes
  };

  // Finds what is for everybody and for `reader`.
  LogReader(std::string path, int reader) : path_(std::move(path)), reader_(reader) {}
  Found find(Lane lane, uint64_t sequence, Record* record, uint64_t* payload_at);
  // The payload, and the state of each of its bytes. False when it is not what was written.
  bool read(const Record& record, uint64_t payload_at, void* to, unsigned char* states) const;

 private:
  struct Place {
    uint64_t sequence = 0;
    uint64_t at = 0;
  };
  bool scan(int file);
  bool look(int file, Lane lane, uint64_t sequence, Record* record, uint64_t* payload_at) const;
  static bool read_record(int file, uint64_t at, uint64_t end, Record* record, uint64_t* next);

  std::string path_;
  int reader_;
  uint64_t scanned_ = 0;
  std::vector<Place> places_[2];  // by lane, in order
  Mutex mutex_;
};

}  // namespace torchmem::vgpu::nccl
