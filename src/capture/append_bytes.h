#pragma once

#include <cstring>
#include <string>

namespace torchmem::capture {

// Appends a value's bytes to a key.
template <class T>
void append_bytes(std::string& key, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  key.append(bytes, sizeof value);
}

}  // namespace torchmem::capture
