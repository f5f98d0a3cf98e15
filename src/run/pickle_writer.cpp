#include "run/pickle_writer.h"

#include <bit>
#include <limits>

#include "run/pickle_opcodes.h"
#include "run/utf8.h"

namespace torchmem {

namespace {

char as_char(uint8_t code) { return static_cast<char>(code); }

}  // namespace

PickleWriter::PickleWriter() {
  bytes_ += as_char(opcode::proto);
  bytes_ += as_char(2);
}

void PickleWriter::little_endian(uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes_ += as_char(static_cast<uint8_t>(value >> (8 * i)));
}

void PickleWriter::none() { bytes_ += as_char(opcode::none); }

void PickleWriter::boolean(bool value) { bytes_ += as_char(value ? opcode::new_true : opcode::new_false); }

void PickleWriter::integer(int64_t value) {
  if (value >= 0 && value < 0x100) {
    bytes_ += as_char(opcode::bin_int1);
    little_endian(static_cast<uint64_t>(value), 1);
  } else if (value >= 0 && value < 0x10000) {
    bytes_ += as_char(opcode::bin_int2);
    little_endian(static_cast<uint64_t>(value), 2);
  } else if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    bytes_ += as_char(opcode::bin_int);
    little_endian(static_cast<uint64_t>(value), 4);
  } else {
    bytes_ += as_char(opcode::long1);
    bytes_ += as_char(8);
    little_endian(static_cast<uint64_t>(value), 8);
  }
}

void PickleWriter::unsigned_integer(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return integer(static_cast<int64_t>(value));
  }
  bytes_ += as_char(opcode::long1);
  bytes_ += as_char(9);
  little_endian(value, 8);
  bytes_ += '\0';
}

void PickleWriter::real(double value) {
  bytes_ += as_char(opcode::bin_float);
  auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) bytes_ += as_char(static_cast<uint8_t>(bits >> shift));
}

void PickleWriter::string(std::string_view value) {
  std::string text = valid_utf8(value);
  if (auto found = strings_.find(text); found != strings_.end()) return get(found->second);
  bytes_ += as_char(opcode::bin_unicode);
  little_endian(text.size(), 4);
  bytes_ += text;
  strings_.emplace(std::move(text), put());
}

void PickleWriter::begin_list() {
  bytes_ += as_char(opcode::empty_list);
  bytes_ += as_char(opcode::mark);
}

void PickleWriter::end_list() { bytes_ += as_char(opcode::appends); }

void PickleWriter::begin_dict() {
  bytes_ += as_char(opcode::empty_dict);
  bytes_ += as_char(opcode::mark);
}

void PickleWriter::end_dict() { bytes_ += as_char(opcode::set_items); }

void PickleWriter::pair(uint64_t first, uint64_t second) {
  unsigned_integer(first);
  unsigned_integer(second);
  bytes_ += as_char(opcode::tuple2);
}

uint32_t PickleWriter::put() {
  uint32_t key = memo_size_++;
  if (key < 0x100) {
    bytes_ += as_char(opcode::bin_put);
    little_endian(key, 1);
  } else {
    bytes_ += as_char(opcode::long_bin_put);
    little_endian(key, 4);
  }
  return key;
}

void PickleWriter::get(uint32_t key) {
  if (key < 0x100) {
    bytes_ += as_char(opcode::bin_get);
    little_endian(key, 1);
  } else {
    bytes_ += as_char(opcode::long_bin_get);
    little_endian(key, 4);
  }
}

std::string PickleWriter::finish() {
  bytes_ += as_char(opcode::stop);
  return std::move(bytes_);
}

}  // namespace torchmem
