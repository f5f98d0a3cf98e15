// Columns of whole numbers in few bytes of text, for data inside an HTML page (html/data.js reads them).
#pragma once

#include <cstdint>
#include <string>

namespace torchmem {

// LEB128: seven bits a byte, the lowest first, the high bit set on all but a number's last byte.
class Column {
 public:
  void add(uint64_t value);
  // The difference to the value that was added so before (0 at first), folded: 0, -1, 1, -2 as 0, 1, 2, 3.
  void add_difference(uint64_t value);

  std::string base64() const;

 private:
  std::string bytes_;
  uint64_t last_ = 0;
};

}  // namespace torchmem
