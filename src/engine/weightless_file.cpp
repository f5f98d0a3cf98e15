#include "engine/weightless_file.h"

#include <caffe2/serialize/file_adapter.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>

namespace torchmem::engine {
namespace {

constexpr std::uint64_t read_whole = 64 * 1024;

bool holds_tensor(const std::string& record) {
  return record.rfind("data/", 0) == 0 || record.rfind("constants/", 0) == 0;
}

// The compression method in a zip entry's local header (offset 8, little-endian); 0 is stored.
bool is_stored(const caffe2::serialize::ReadAdapterInterface& file, std::uint64_t header_offset) {
  unsigned char method[2] = {1, 1};
  return file.read(header_offset + 8, method, sizeof method, "compression method") == sizeof method &&
         method[0] == 0 && method[1] == 0;
}

}  // namespace

WeightlessFile::WeightlessFile(const std::string& path)
    : file_(std::make_shared<caffe2::serialize::FileAdapter>(path)) {
  caffe2::serialize::PyTorchStreamReader reader(file_);
  for (const auto& record : reader.getAllRecords()) {
    if (!holds_tensor(record)) continue;
    const std::uint64_t bytes = reader.getRecordSize(record);
    if (bytes <= read_whole || !is_stored(*file_, reader.getRecordHeaderOffset(record))) continue;
    const std::uint64_t begin = reader.getRecordOffset(record);
    skipped_.push_back({begin, begin + bytes});
  }
  std::sort(skipped_.begin(), skipped_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

std::size_t WeightlessFile::size() const { return file_->size(); }

std::size_t WeightlessFile::read(std::uint64_t position, void* buffer, std::size_t bytes,
                                 const char* what) const {
  auto next = std::upper_bound(skipped_.begin(), skipped_.end(), position,
                               [](std::uint64_t value, const Range& range) { return value < range.begin; });
  if (next != skipped_.begin()) {
    const Range& range = *std::prev(next);
    if (position >= range.begin && position + bytes <= range.end) return bytes;
  }
  return file_->read(position, buffer, bytes, what);
}

std::uint64_t WeightlessFile::skipped_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& range : skipped_) bytes += range.end - range.begin;
  return bytes;
}

}  // namespace torchmem::engine
