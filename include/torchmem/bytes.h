// Sizes in bytes, for people: read and written in KiB, MiB, GiB (powers of 1024).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace torchmem {

// "24GiB", "1.5 MiB", "500MB", "1048576": a whole or decimal number and a unit (B, KiB to PiB; KB to PB are
// powers of 1000; none = bytes), case of the unit ignored, rounded down to whole bytes. Throws
// Error(bad_usage) saying which part is wrong; `what` names the option or field in it.
uint64_t parse_bytes(std::string_view text, std::string_view what);

// "0 B", "512 B", "1.50 KiB", "82.00 MiB", "1.23 GiB": at most 4 digits before the point, two after it.
std::string format_bytes(uint64_t bytes);

// 1234567 as "1,234,567".
std::string format_count(uint64_t count);

}  // namespace torchmem
