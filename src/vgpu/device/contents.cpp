#include "contents.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace torchmem::vgpu {

Contents::Piece Contents::slice(const Piece& piece, size_t offset, size_t size) {
  Piece part;
  part.size = size;
  part.assumed = piece.assumed;
  part.run = piece.run;
  part.stored = piece.stored;
  part.stored_at = piece.stored_at + offset;
  if (piece.run) {
    part.kept = piece.kept;
    auto turn = static_cast<ptrdiff_t>(offset % piece.kept.size());
    std::rotate(part.kept.begin(), part.kept.begin() + turn, part.kept.end());
  } else if (!piece.stored) {
    part.kept.assign(piece.kept.begin() + static_cast<ptrdiff_t>(offset),
                     piece.kept.begin() + static_cast<ptrdiff_t>(offset + size));
  }
  return part;
}

void Contents::insert(uint64_t address, Piece piece) {
  total_ += held(piece);
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
    total_ -= held(piece);
    it = pieces_.erase(it);
    if (begin < address) insert(begin, slice(piece, 0, address - begin));
    if (begin + piece.size > end) {
      insert(end, slice(piece, end - begin, begin + piece.size - end));
      break;
    }
  }
}

void Contents::write(uint64_t address, const void* bytes, size_t size, int state) {
  forget(address, size);
  if (size == 0 || state == tmv_value_unknown) return;
  Piece piece;
  piece.size = size;
  piece.assumed = state == tmv_value_assumed;
  if (size > max_write) {
    if (large_) piece.stored = large_->keep(bytes, size);
    if (!piece.stored) return;
  } else {
    if (total_ + size > max_total) return;
    auto* from = static_cast<const unsigned char*>(bytes);
    piece.kept.assign(from, from + size);
  }
  insert(address, std::move(piece));
}

void Contents::fill(uint64_t address, unsigned char byte, size_t size) {
  repeat(address, &byte, 1, size, tmv_value_known);
}

void Contents::repeat(uint64_t address, const void* value, size_t unit, size_t size, int state) {
  forget(address, size);
  if (size == 0 || unit == 0 || unit > max_unit || state == tmv_value_unknown) return;
  Piece piece;
  piece.size = size;
  piece.assumed = state == tmv_value_assumed;
  piece.run = true;
  auto* from = static_cast<const unsigned char*>(value);
  piece.kept.assign(from, from + unit);
  insert(address, std::move(piece));
}

template <class Visit>
void Contents::visit(uint64_t address, size_t size, Visit&& visit) const {
  uint64_t end = address + size;
  auto it = pieces_.upper_bound(address);
  if (it != pieces_.begin()) --it;
  for (; it != pieces_.end() && it->first < end; ++it) {
    uint64_t begin = std::max(it->first, address);
    uint64_t stop = std::min(it->first + it->second.size, end);
    if (begin < stop) visit(begin, static_cast<size_t>(stop - begin), it->second, begin - it->first);
  }
}

void Contents::copy(uint64_t destination, uint64_t source, size_t size) {
  std::vector<std::pair<uint64_t, Piece>> found;
  visit(source, size, [&](uint64_t begin, size_t part, const Piece& piece, size_t offset) {
    found.emplace_back(begin - source, slice(piece, offset, part));
  });
  forget(destination, size);
  for (auto& [offset, piece] : found)
    if (total_ + held(piece) <= max_total) insert(destination + offset, std::move(piece));
}

bool Contents::read_piece(const Piece& piece, size_t offset, unsigned char* to, size_t size) {
  if (piece.stored) return piece.stored->read(piece.stored_at + offset, to, size);
  if (!piece.run) {
    std::memcpy(to, piece.kept.data() + offset, size);
  } else if (piece.kept.size() == 1) {
    std::memset(to, piece.kept[0], size);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = piece.kept[(offset + i) % piece.kept.size()];
  }
  return true;
}

Contents::Doubt Contents::read(uint64_t address, void* bytes, size_t size, std::vector<Range>* gaps) const {
  auto* to = static_cast<unsigned char*>(bytes);
  Doubt doubt;
  uint64_t reached = address;
  auto gap = [&](uint64_t until) {
    if (until == reached) return;
    std::memset(to + (reached - address), 0, until - reached);
    doubt.unknown += until - reached;
    if (gaps) gaps->push_back({reached, static_cast<size_t>(until - reached)});
  };
  visit(address, size, [&](uint64_t begin, size_t part, const Piece& piece, size_t offset) {
    gap(begin);
    reached = begin;
    if (!read_piece(piece, offset, to + (begin - address), part)) {
      gap(begin + part);
    } else if (piece.assumed) {
      doubt.assumed += part;
    }
    reached = begin + part;
  });
  gap(address + size);
  return doubt;
}

Contents::Doubt Contents::doubt(uint64_t address, size_t size) const {
  Doubt doubt{size, 0};
  visit(address, size, [&](uint64_t, size_t part, const Piece& piece, size_t) {
    doubt.unknown -= part;
    if (piece.assumed) doubt.assumed += part;
  });
  return doubt;
}

std::vector<Contents::Range> Contents::gaps(uint64_t address, size_t size) const {
  std::vector<Range> found;
  uint64_t reached = address;
  auto until = [&](uint64_t begin) {
    if (begin > reached) found.push_back({reached, static_cast<size_t>(begin - reached)});
  };
  visit(address, size, [&](uint64_t begin, size_t part, const Piece&, size_t) {
    until(begin);
    reached = begin + part;
  });
  until(address + size);
  return found;
}

void Contents::states(uint64_t address, size_t size, unsigned char* states) const {
  std::memset(states, tmv_value_unknown, size);
  visit(address, size, [&](uint64_t begin, size_t part, const Piece& piece, size_t) {
    std::memset(states + (begin - address), piece.assumed ? tmv_value_assumed : tmv_value_known, part);
  });
}

}  // namespace torchmem::vgpu
