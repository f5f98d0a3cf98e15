// Writes plain data as a Python pickle of protocol 2, with only the opcodes that PyTorch's memory_viz page
// reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace torchmem {

// A value is written by one call; a container by begin, its items (a dict's: key, value, ...), end. Strings
// are written once and referred to afterwards.
class PickleWriter {
 public:
  PickleWriter();

  void none();
  void boolean(bool value);
  void integer(int64_t value);
  void unsigned_integer(uint64_t value);
  void real(double value);
  void string(std::string_view value);  // bytes that are not UTF-8 become U+FFFD

  void begin_list();
  void end_list();
  void begin_dict();
  void end_dict();
  void pair(uint64_t first, uint64_t second);  // a tuple of two

  // Remembers the value just written, to be written again by get().
  uint32_t put();
  void get(uint32_t key);

  // The pickle. Ends the writer's life.
  std::string finish();

 private:
  void little_endian(uint64_t value, size_t size);

  std::string bytes_;
  uint32_t memo_size_ = 0;
  std::unordered_map<std::string, uint32_t> strings_;
};

}  // namespace torchmem
