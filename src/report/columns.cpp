#include "report/columns.h"

namespace torchmem {

void Column::add(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(0x80 | (value & 0x7f));
  bytes_ += static_cast<char>(value);
}

void Column::add_difference(uint64_t value) {
  uint64_t difference = value - last_;
  last_ = value;
  uint64_t sign = 0 - (difference >> 63);
  add((difference << 1) ^ sign);
}

std::string Column::base64() const {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes_.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes_.size(); i += 3) {
    size_t count = bytes_.size() - i;
    auto byte = [&](size_t j) -> uint32_t { return j < count ? static_cast<uint8_t>(bytes_[i + j]) : 0; };
    uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += digits[bits >> 18];
    text += digits[bits >> 12 & 63];
    text += count > 1 ? digits[bits >> 6 & 63] : '=';
    text += count > 2 ? digits[bits & 63] : '=';
  }
  return text;
}

}  // namespace torchmem
