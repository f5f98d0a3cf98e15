#include "request/sizes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <vector>

#include "request/spec.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

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

uint64_t largest(const Sizes& sizes) { return *std::max_element(sizes.sizes.begin(), sizes.sizes.end()); }

}  // namespace

void add_sizes(RunRequest& request, const std::string& text) {
  Sizes sizes = parse(text);
  std::vector<std::string> names = unsized_dimensions(request.inputs);
  if (std::find(names.begin(), names.end(), sizes.dimension) == names.end()) {
    throw Error(ErrorKind::bad_usage, "--sizes " + text + ": no input has a dimension " + sizes.dimension +
                                          "; write it where it is, e.g. --input ids=i64:8x" +
                                          sizes.dimension + ":below=1000");
  }
  request.sizes = std::move(sizes);
}

std::vector<std::string> open_dimensions(const RunRequest& request) {
  std::vector<std::string> names = unsized_dimensions(request.inputs);
  if (request.sizes) std::erase(names, request.sizes->dimension);
  return names;
}

void check_sized(const RunRequest& request, const std::string& what) {
  std::vector<std::string> names = open_dimensions(request);
  if (names.empty()) return;
  throw Error(ErrorKind::bad_usage, "dimension " + names[0] + " of " + what +
                                        " has no size; write a number in --input, or give it several in turn "
                                        "with --sizes " +
                                        names[0] + "=N,N,...");
}

void pad_sizes(RunRequest& request) {
  if (!request.sizes) return;
  std::vector<uint64_t>& sizes = request.sizes->sizes;
  std::fill(sizes.begin(), sizes.end(), largest(*request.sizes));
}

void bucket_sizes(RunRequest& request) {
  if (!request.sizes) return;
  const uint64_t most = largest(*request.sizes);
  for (uint64_t& size : request.sizes->sizes) size = std::min(std::bit_ceil(size), most);
}

void warm_up_sizes(RunRequest& request) {
  if (!request.sizes) return;
  std::vector<uint64_t>& sizes = request.sizes->sizes;
  sizes.insert(sizes.begin(), largest(*request.sizes));
  ++request.steps;
}

void resolve_sizes(RunRequest& request) {
  if (!request.sizes) return;
  for (uint64_t size : request.sizes->sizes) {
    request.inputs_in_turn.push_back(request.inputs);
    set_dimension(request.inputs_in_turn.back(), request.sizes->dimension, size);
  }
  set_dimension(request.inputs, request.sizes->dimension, largest(*request.sizes));
}

}  // namespace torchmem
