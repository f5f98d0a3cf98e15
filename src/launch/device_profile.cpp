#include "launch/device_profile.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>

#include "report/style.h"
#include "request/json_file.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

using Limits = std::numeric_limits<int64_t>;

struct Range {
  int64_t least = Limits::min();
  int64_t most = Limits::max();
};

constexpr Range any_int{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
constexpr Range no_negative_int{0, std::numeric_limits<int>::max()};
constexpr Range no_negative{0, Limits::max()};

// Sums of sizes stay in range; no card comes near.
constexpr int64_t most_memory = int64_t{1} << 50;

// PyTorch's host code and the virtual GPU divide by these.
constexpr const char* divisors[] = {"major", "multiProcessorCount", "maxThreadsPerMultiProcessor",
                                    "maxThreadsPerBlock", "warpSize"};

constexpr size_t longest_name = 255;  // cudaDeviceProp

std::string number_text(int64_t number) {
  return (number < 0 ? "-" : "") + format_count(number < 0 ? uint64_t{0} - static_cast<uint64_t>(number)
                                                           : static_cast<uint64_t>(number));
}

std::string text_of(const Range& range) {
  if (range.most == Limits::max())
    return range.least == Limits::min() ? "a whole number"
                                        : fmt::format("a whole number from {} on", number_text(range.least));
  return fmt::format("a whole number from {} to {}", number_text(range.least), number_text(range.most));
}

class Checker {
 public:
  Checker(const std::string& path, const json& root) : path_(path), root_(root) {}

  void check() const {
    if (!root_.is_object()) throw problem(fmt::format("it is {}, but an object is expected", brief(root_)));
    const json* schema = member(root_, "schema");
    if (!schema || *schema != "torchmem.device/1")
      throw unexpected("it is not a device profile: \"schema\"", schema, "\"torchmem.device/1\"");
    identity();
    memory();
    properties();
    object(root_, "versions", [&](const std::string& place, const std::string&, const json& value) {
      if (!value.is_string()) number(value, place, any_int);
    });
    numbered("attributes", any_int);
    numbered("limits", no_negative);
    object(root_, "pci", [&](const std::string& place, const std::string&, const json& value) {
      number(value, place, no_negative_int);
    });
    kernels();
  }

 private:
  Error problem(const std::string& what) const {
    return Error(ErrorKind::bad_input, fmt::format("device profile {}: {}", printable(path_), what));
  }

  Error unexpected(const std::string& place, const json* value, const std::string& expected) const {
    return problem(
        fmt::format("{} is {}, but {} is expected", place, value ? brief(*value) : "missing", expected));
  }

  static const json* member(const json& object, const std::string& name) {
    auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }

  int64_t number(const json& value, const std::string& place, const Range& range) const {
    bool fits = value.is_number_integer() && (!value.is_number_unsigned() ||
                                              value.get<uint64_t>() <= static_cast<uint64_t>(Limits::max()));
    if (!fits || value.get<int64_t>() < range.least || value.get<int64_t>() > range.most)
      throw unexpected(place, &value, text_of(range));
    return value.get<int64_t>();
  }

  int64_t needed(const json& object, const std::string& name, const std::string& place,
                 const Range& range) const {
    const json* value = member(object, name);
    if (!value) throw unexpected(place, nullptr, text_of(range));
    return number(*value, place, range);
  }

  // Each member of the object `name`, if that is there: visit(place, name, value).
  template <class Visit>
  void object(const json& around, const std::string& name, Visit visit,
              const std::string& before = "") const {
    const json* found = member(around, name);
    if (!found) return;
    std::string place = before + name;
    if (!found->is_object()) throw unexpected(place, found, "an object");
    for (const auto& [key, value] : found->items()) visit(place + "." + brief(key), key, value);
  }

  void text(const char* name, bool is_needed, size_t longest = std::string::npos) const {
    const json* value = member(root_, name);
    if (!value && !is_needed) return;
    bool good = value && value->is_string();
    if (good) {
      size_t length = value->get_ref<const std::string&>().size();
      good = length > 0 && length <= longest;
    }
    if (!good)
      throw unexpected(
          name, value,
          longest == std::string::npos ? "a string" : fmt::format("a string of 1 to {} bytes", longest));
  }

  void identity() const {
    text("id", false, longest_name);
    // It names files.
    if (const json* id = member(root_, "id");
        id && id->get_ref<const std::string&>().find('/') != std::string::npos)
      throw unexpected("id", id, "a string without '/'");
    text("name", true, longest_name);
    text("note", false);
    text("cudnn_facts", false);
    if (const json* verified = member(root_, "verified"); verified && !verified->is_boolean())
      throw unexpected("verified", verified, "true or false");
  }

  void memory() const {
    int64_t total = needed(root_, "total_bytes", "total_bytes", {1, most_memory});
    int64_t taken = 0;
    object(root_, "memory", [&](const std::string& place, const std::string& name, const json& value) {
      if (name == "granularity_bytes") {
        number(value, place, {1, most_memory});
      } else if (name == "unusable_bytes" || name == "context_bytes") {
        taken += number(value, place, {0, most_memory});
      } else if (name != "loads") {
        throw problem(fmt::format(
            "there is no field {}; expected granularity_bytes, unusable_bytes, context_bytes, loads", place));
      }
    });
    if (taken >= total)
      throw problem(
          fmt::format("total_bytes is {}, but memory.unusable_bytes and memory.context_bytes come to {}: "
                      "nothing is left",
                      number_text(total), number_text(taken)));
    if (!root_.contains("memory")) return;
    object(
        root_["memory"], "loads",
        [&](const std::string& place, const std::string&, const json& value) {
          number(value, place, {0, most_memory});
        },
        "memory.");
  }

  void properties() const {
    const json* all = member(root_, "properties");
    if (!all || !all->is_object()) throw unexpected("properties", all, "an object");
    for (const char* name : divisors)
      needed(*all, name, std::string("properties.") + name, {1, no_negative_int.most});
    object(root_, "properties", [&](const std::string& place, const std::string&, const json& value) {
      if (!value.is_array()) {
        number(value, place, Range());
        return;
      }
      for (size_t i = 0; i < value.size(); ++i) number(value[i], fmt::format("{}[{}]", place, i), Range());
    });
  }

  // Fields whose names are CUDA's numbers.
  void numbered(const char* name, const Range& range) const {
    object(root_, name, [&](const std::string& place, const std::string& key, const json& value) {
      bool is_number =
          !key.empty() && key.size() <= 6 && key.find_first_not_of("0123456789") == std::string::npos;
      if (!is_number) throw problem(place + ": the name has to be a number of CUDA's, such as \"16\"");
      number(value, place, range);
    });
  }

  void kernels() const {
    object(root_, "kernels", [&](const std::string& place, const std::string&, const json& facts) {
      if (!facts.is_object()) throw unexpected(place, &facts, "an object");
      for (const auto& [key, value] : facts.items()) {
        if (key != "occupancy") number(value, place + "." + brief(key), Range());
      }
      object(
          facts, "occupancy",
          [&](const std::string& inner, const std::string&, const json& value) {
            number(value, inner, no_negative_int);
          },
          place + ".");
    });
  }

  const std::string& path_;
  const json& root_;
};

}  // namespace

json read_device_profile(const std::string& path) {
  json profile = read_json_file(path, "device profile");
  Checker(path, profile).check();
  return profile;
}

}  // namespace torchmem
