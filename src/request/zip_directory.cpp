#include "request/zip_directory.h"

#include <algorithm>

namespace torchmem {

namespace {

// Signatures and sizes of the records, from PKWARE's APPNOTE.TXT.
constexpr std::string_view local_header("PK\x03\x04", 4);
constexpr std::string_view central_header("PK\x01\x02", 4);
constexpr std::string_view end_record("PK\x05\x06", 4);
constexpr std::string_view end_record64("PK\x06\x06", 4);
constexpr std::string_view end_locator64("PK\x06\x07", 4);
constexpr size_t end_record_size = 22;
constexpr size_t end_locator64_size = 20;
constexpr size_t end_record64_size = 56;
constexpr size_t central_header_size = 46;
constexpr size_t local_header_size = 30;
constexpr size_t max_comment = 65535;

uint64_t number(std::string_view bytes, size_t offset, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[offset + i]);
  return value;
}

struct Table {
  uint64_t offset;
  uint64_t entries;
};

std::optional<Table> find_table(std::string_view bytes) {
  if (bytes.size() < end_record_size) return std::nullopt;
  size_t lowest = bytes.size() - std::min(bytes.size(), end_record_size + max_comment);
  size_t end = bytes.rfind(end_record, bytes.size() - end_record_size);
  if (end == std::string_view::npos || end < lowest) return std::nullopt;
  Table table{number(bytes, end + 16, 4), number(bytes, end + 10, 2)};
  if (end >= end_locator64_size && bytes.substr(end - end_locator64_size, 4) == end_locator64) {
    uint64_t start = number(bytes, end - end_locator64_size + 8, 8);
    if (start > bytes.size() || bytes.size() - start < end_record64_size) return std::nullopt;
    if (bytes.substr(start, 4) != end_record64) return std::nullopt;
    table = {number(bytes, start + 48, 8), number(bytes, start + 32, 8)};
  }
  return table;
}

// Numbers that did not fit into 32 bits stand in the zip64 extra field, in a fixed order.
bool widen(std::string_view extra, uint64_t& plain_size, uint64_t& size, uint64_t& offset) {
  while (extra.size() >= 4) {
    uint64_t id = number(extra, 0, 2);
    uint64_t length = number(extra, 2, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) return false;
    if (id == 1) {
      std::string_view field = extra.substr(0, length);
      for (uint64_t* value : {&plain_size, &size, &offset}) {
        if (*value != 0xffffffff) continue;
        if (field.size() < 8) return false;
        *value = number(field, 0, 8);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::optional<std::vector<ZipEntry>> read_zip_directory(std::string_view bytes) {
  std::optional<Table> table = find_table(bytes);
  if (!table || table->offset > bytes.size()) return std::nullopt;
  std::string_view rest = bytes.substr(table->offset);
  std::vector<ZipEntry> entries;
  for (uint64_t i = 0; i < table->entries; ++i) {
    if (rest.size() < central_header_size || !rest.starts_with(central_header)) return std::nullopt;
    uint64_t name_length = number(rest, 28, 2);
    uint64_t extra_length = number(rest, 30, 2);
    uint64_t total = central_header_size + name_length + extra_length + number(rest, 32, 2);
    if (rest.size() < total) return std::nullopt;
    ZipEntry entry;
    entry.name = rest.substr(central_header_size, name_length);
    entry.stored = number(rest, 10, 2) == 0;
    entry.size = number(rest, 20, 4);
    entry.offset = number(rest, 42, 4);
    uint64_t plain_size = number(rest, 24, 4);
    if (!widen(rest.substr(central_header_size + name_length, extra_length), plain_size, entry.size,
               entry.offset)) {
      return std::nullopt;
    }
    entries.push_back(std::move(entry));
    rest.remove_prefix(total);
  }
  return entries;
}

std::optional<std::string_view> stored_data(std::string_view bytes, const ZipEntry& entry) {
  if (!entry.stored || entry.offset > bytes.size() || bytes.size() - entry.offset < local_header_size)
    return std::nullopt;
  std::string_view header = bytes.substr(entry.offset);
  if (!header.starts_with(local_header)) return std::nullopt;
  uint64_t start = local_header_size + number(header, 26, 2) + number(header, 28, 2);
  if (start > header.size() || entry.size > header.size() - start) return std::nullopt;
  return header.substr(start, entry.size);
}

}  // namespace torchmem
