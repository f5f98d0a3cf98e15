#include "request/alloc_conf.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

enum class Kind { boolean, mebibytes, fraction, open_fraction, divisions, threads, backend };

struct Key {
  std::string_view name;
  Kind kind;
  uint64_t least = 0;  // of mebibytes
};

constexpr Key keys[] = {
    {"backend", Kind::backend},
    {"expandable_segments", Kind::boolean},
    {"garbage_collection_threshold", Kind::open_fraction},
    {"graph_capture_record_stream_reuse", Kind::boolean},
    {"large_segment_size_mb", Kind::mebibytes, 11},
    {"max_non_split_rounding_mb", Kind::mebibytes, 20},
    {"max_split_size_mb", Kind::mebibytes, 20},
    {"per_process_memory_fraction", Kind::fraction},
    {"pinned_num_register_threads", Kind::threads},
    {"pinned_reserve_segment_size_mb", Kind::mebibytes, 1},
    {"pinned_use_background_threads", Kind::boolean},
    {"pinned_use_cuda_host_register", Kind::boolean},
    {"release_lock_on_cudamalloc", Kind::boolean},
    {"roundup_power2_divisions", Kind::divisions},
};

// Blanks count for nothing anywhere.
std::string squeeze(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) result += c;
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0; start <= text.size();) {
    size_t depth = 0;
    size_t end = start;
    while (end < text.size() && (text[end] != separator || depth > 0)) {
      if (text[end] == '[') ++depth;
      if (text[end] == ']' && depth > 0) --depth;
      ++end;
    }
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

class Checker {
 public:
  Checker(std::string_view whole, std::string_view what) : whole_(whole), what_(what) {}

  void check() {
    std::string text = squeeze(whole_);
    std::vector<std::string_view> parts = split(text, ',');
    // One comma at the very end is legal.
    if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
    if (text.empty()) return;
    for (std::string_view part : parts) check_part(part);
  }

 private:
  [[noreturn]] void refuse(std::string_view part, const std::string& why) const {
    throw Error(ErrorKind::bad_usage, std::string(what_) + ": in '" + std::string(whole_) + "' the part '" +
                                          std::string(part) + "' is wrong: " + why + ".");
  }

  void check_part(std::string_view part) const {
    if (part.empty()) refuse(part, "there is nothing between two commas");
    size_t colon = part.find(':');
    std::string_view name = part.substr(0, colon);
    const Key* key = find(name);
    if (!key) refuse_key(part, name);
    std::string_view value = colon == std::string_view::npos ? "" : part.substr(colon + 1);
    if (colon == std::string_view::npos)
      refuse(part, "the value is missing, written " + std::string(name) + ":VALUE");
    if (value.empty()) refuse(part, "the value after ':' is missing; " + expected(*key));
    check_value(*key, part, value);
  }

  static const Key* find(std::string_view name) {
    for (const Key& key : keys) {
      if (key.name == name) return &key;
    }
    return nullptr;
  }

  [[noreturn]] void refuse_key(std::string_view part, std::string_view name) const {
    size_t equals = name.find('=');
    if (equals != std::string_view::npos && find(name.substr(0, equals))) {
      std::string key(name.substr(0, equals));
      refuse(part, "key and value are separated by ':', not '=': " + key + ":" +
                       std::string(name.substr(equals + 1)));
    }
    std::vector<std::string> known;
    for (const Key& key : keys) known.emplace_back(key.name);
    refuse(part, "PyTorch has no setting '" + std::string(name) + "'.\nSettings: " + joined(known));
  }

  static std::string expected(const Key& key) {
    switch (key.kind) {
      case Kind::boolean:
        return "expected True or False, with a capital letter";
      case Kind::mebibytes:
        return "expected a whole number of MiB, at least " + std::to_string(key.least);
      case Kind::fraction:
        return "expected a number from 0 to 1";
      case Kind::open_fraction:
        return "expected a number between 0 and 1, both excluded";
      case Kind::divisions:
        return "expected a power of two, or [SIZE_MB:DIVISIONS,...,>:DIVISIONS] of powers of two";
      case Kind::threads:
        return "expected a power of two up to 128";
      case Kind::backend:
        break;
    }
    return "expected native";
  }

  void check_value(const Key& key, std::string_view part, std::string_view value) const {
    bool good = false;
    uint64_t number = 0;
    double real = 0;
    switch (key.kind) {
      case Kind::boolean:
        good = value == "True" || value == "False";
        break;
      case Kind::mebibytes:
        good = parse(value, number) && number >= key.least && number <= (UINT64_MAX >> 20);
        break;
      case Kind::fraction:
        good = parse(value, real) && real >= 0 && real <= 1;
        break;
      case Kind::open_fraction:
        good = parse(value, real) && real > 0 && real < 1;
        break;
      case Kind::divisions:
        good =
            value[0] == '[' ? check_list(part, value) : parse(value, number) && std::has_single_bit(number);
        break;
      case Kind::threads:
        good = parse(value, number) && std::has_single_bit(number) && number <= 128;
        break;
      case Kind::backend:
        if (value == "cudaMallocAsync") {
          refuse(part,
                 "that allocator lies in the CUDA driver and records nothing, so it cannot be profiled or "
                 "replayed; leave it out, or use backend:native");
        }
        good = value == "native";
        break;
    }
    if (!good) refuse(part, expected(key));
  }

  bool check_list(std::string_view part, std::string_view value) const {
    if (value.back() != ']') refuse(part, "the list's closing ']' is missing");
    value = value.substr(1, value.size() - 2);
    if (value.empty()) return true;
    std::vector<std::string_view> items = split(value, ',');
    if (items.size() > 1 && items.back().empty()) items.pop_back();
    for (std::string_view item : items) {
      size_t colon = item.find(':');
      std::string_view size = item.substr(0, colon);
      uint64_t number = 0;
      bool good_size = size == ">" || (parse(size, number) && std::has_single_bit(number));
      bool good = colon != std::string_view::npos && good_size && parse(item.substr(colon + 1), number) &&
                  (number == 0 || std::has_single_bit(number));
      if (!good)
        refuse(item,
               "it is not SIZE_MB:DIVISIONS, both powers of two (DIVISIONS may be 0, SIZE_MB may be '>')");
    }
    return true;
  }

  std::string_view whole_;
  std::string_view what_;
};

}  // namespace

void check_alloc_conf(std::string_view text, std::string_view what) { Checker(text, what).check(); }

}  // namespace torchmem
