#include "cli/sizes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <functional>
#include <vector>

#include "cli/spec.h"
#include "torchmem/error.h"

namespace torchmem::cli {

using nlohmann::json;

namespace {

struct Sizes {
  std::string name;
  std::vector<uint64_t> sizes;  // at least one
};

Sizes parse(const std::string& text) {
  auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::bad_usage, "--sizes " + text + ": " + why +
                                          ". Expected a dimension of --input and its size in each step, e.g. "
                                          "--input ids=i64:8xS:below=1000 --sizes S=64,512,128");
  };
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse("there is no NAME=");
  Sizes result{text.substr(0, equals), {}};
  for (size_t start = equals + 1; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    uint64_t size = 0;
    auto [stop, error] = std::from_chars(text.data() + start, text.data() + end, size);
    if (error != std::errc() || stop != text.data() + end || size == 0 || size > INT32_MAX)
      refuse("'" + text.substr(start, end - start) + "' is not a whole number from 1 to 2147483647");
    result.sizes.push_back(size);
    start = end + 1;
  }
  return result;
}

// Changes the sizes, if there are any.
void change(json& request, const std::function<void(std::vector<uint64_t>&, uint64_t largest)>& by) {
  if (sized_dimension(request).second == 0) return;
  json& sizes = request["sizes"].front();
  auto list = sizes.get<std::vector<uint64_t>>();
  by(list, *std::max_element(list.begin(), list.end()));
  sizes = list;
}

}  // namespace

void add_sizes(json& request, const std::string& text) {
  Sizes sizes = parse(text);
  std::vector<std::string> names = unsized_dimensions(request.at("inputs"));
  if (std::find(names.begin(), names.end(), sizes.name) == names.end()) {
    throw Error(ErrorKind::bad_usage, "--sizes " + text + ": no input has a dimension " + sizes.name +
                                          "; write it where it is, e.g. --input ids=i64:8x" + sizes.name +
                                          ":below=1000");
  }
  request["sizes"] = {{sizes.name, sizes.sizes}};
}

std::pair<std::string, size_t> sized_dimension(const json& request) {
  if (!request.contains("sizes") || !request["sizes"].is_object() || request["sizes"].empty()) return {"", 0};
  auto entry = request["sizes"].begin();
  return {entry.key(), entry.value().size()};
}

std::vector<std::string> open_dimensions(const json& request) {
  std::vector<std::string> names = unsized_dimensions(request.at("inputs"));
  std::erase(names, sized_dimension(request).first);
  return names;
}

void check_sized(const json& request, const std::string& what) {
  std::vector<std::string> names = open_dimensions(request);
  if (names.empty()) return;
  throw Error(ErrorKind::bad_usage, "dimension " + names[0] + " of " + what +
                                        " has no size; write a number in --input, or give it several in turn "
                                        "with --sizes " +
                                        names[0] + "=N,N,...");
}

void pad_sizes(json& request) {
  change(request, [](std::vector<uint64_t>& sizes, uint64_t largest) {
    std::fill(sizes.begin(), sizes.end(), largest);
  });
}

void bucket_sizes(json& request) {
  change(request, [](std::vector<uint64_t>& sizes, uint64_t largest) {
    for (uint64_t& size : sizes) size = std::min(std::bit_ceil(size), largest);
  });
}

void warm_up_sizes(json& request) {
  if (sized_dimension(request).second == 0) return;
  change(request,
         [](std::vector<uint64_t>& sizes, uint64_t largest) { sizes.insert(sizes.begin(), largest); });
  request["steps"] = request.at("steps").get<int>() + 1;
}

void resolve_sizes(json& request) {
  auto [name, count] = sized_dimension(request);
  if (count == 0) return;
  const json named = request.at("inputs");
  const auto sizes = request["sizes"].front().get<std::vector<uint64_t>>();
  request["inputs_in_turn"] = json::array();
  for (uint64_t size : sizes) {
    request["inputs_in_turn"].push_back(named);
    set_dimension(request["inputs_in_turn"].back(), name, size);
  }
  set_dimension(request["inputs"], name, *std::max_element(sizes.begin(), sizes.end()));
}

}  // namespace torchmem::cli
