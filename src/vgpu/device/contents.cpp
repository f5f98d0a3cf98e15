#include "contents.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace torchmem::vgpu {

Contents::Piece Contents::slice(const Piece& piece, size_t offset, size_t size) {
  Piece part;
  part.size = size;
  part.uniform = piece.uniform;
  part.byte = piece.byte;
  if (!piece.uniform)
    part.kept.assign(piece.kept.begin() + static_cast<ptrdiff_t>(offset),
                     piece.kept.begin() + static_cast<ptrdiff_t>(offset + size));
  return part;
}

void Contents::insert(uint64_t address, Piece piece) {
  total_ += piece.kept.size();
  pieces_.emplace(address, std::move(piece));
}

void Contents::forget(uint64_t address, size_t size) {
  if (size == 0 || pieces_.empty()) return;
  uint64_t end = address + size;
  auto it = pieces_.upper_bound(address);
  if (it != pieces_.begin() && std::prev(it)->first + std::prev(it)->second.size > address) --it;
  while (it != pieces_.end() && it->first < end) {
    uint64_t begin = it->first;
    Piece piece = std::move(it->second);
    total_ -= piece.kept.size();
    it = pieces_.erase(it);
    if (begin < address) insert(begin, slice(piece, 0, address - begin));
    if (begin + piece.size > end) {
      insert(end, slice(piece, end - begin, begin + piece.size - end));
      break;
    }
  }
}

void Contents::write(uint64_t address, const void* bytes, size_t size) {
  forget(address, size);
  if (size == 0 || size > max_write || total_ + size > max_total) return;
  Piece piece;
  piece.size = size;
  auto* from = static_cast<const unsigned char*>(bytes);
  piece.kept.assign(from, from + size);
  insert(address, std::move(piece));
}

void Contents::fill(uint64_t address, unsigned char byte, size_t size) {
  forget(address, size);
  if (size == 0) return;
  Piece piece;
  piece.size = size;
  piece.uniform = true;
  piece.byte = byte;
  insert(address, std::move(piece));
}

void Contents::copy(uint64_t destination, uint64_t source, size_t size) {
  std::vector<std::pair<uint64_t, Piece>> found;
  uint64_t end = source + size;
  auto it = pieces_.upper_bound(source);
  if (it != pieces_.begin()) --it;
  for (; it != pieces_.end() && it->first < end; ++it) {
    uint64_t begin = std::max(it->first, source);
    uint64_t stop = std::min(it->first + it->second.size, end);
    if (begin < stop) found.emplace_back(begin - source, slice(it->second, begin - it->first, stop - begin));
  }
  forget(destination, size);
  for (auto& [offset, piece] : found)
    if (total_ + piece.kept.size() <= max_total) insert(destination + offset, std::move(piece));
}

size_t Contents::read(uint64_t address, void* bytes, size_t size) const {
  std::memset(bytes, 0, size);
  size_t known = 0;
  uint64_t end = address + size;
  auto it = pieces_.upper_bound(address);
  if (it != pieces_.begin()) --it;
  for (; it != pieces_.end() && it->first < end; ++it) {
    uint64_t begin = std::max(it->first, address);
    uint64_t stop = std::min(it->first + it->second.size, end);
    if (begin >= stop) continue;
    auto* to = static_cast<unsigned char*>(bytes) + (begin - address);
    if (it->second.uniform)
      std::memset(to, it->second.byte, stop - begin);
    else
      std::memcpy(to, it->second.kept.data() + (begin - it->first), stop - begin);
    known += stop - begin;
  }
  return size - known;
}

}  // namespace torchmem::vgpu
