#include "torchmem/estimate.h"

#include <spdlog/fmt/ranges.h>

#include <algorithm>

#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

using Wide = unsigned __int128;

constexpr Wide most = Wide{1} << 63;

struct OptimizerState {
  const char* name;
  uint64_t tensors;  // as large as the parameter, for each
};

constexpr OptimizerState optimizers[] = {{"sgd", 0},   {"momentum", 1}, {"adam", 2},
                                         {"adamw", 2}, {"rmsprop", 1},  {"adagrad", 1}};

struct TypeSize {
  const char* name;
  uint64_t bytes;
};

constexpr TypeSize types[] = {{"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}, {"i64", 8}, {"i32", 4},
                              {"i16", 2}, {"i8", 1},  {"u8", 1},  {"bool", 1}, {"c64", 8}};

constexpr uint64_t f32_bytes = 4;

template <class Entry, size_t count>
const Entry& entry_of(const Entry (&table)[count], const std::string& name, const char* what) {
  std::vector<std::string> names;
  for (const Entry& entry : table) {
    if (name == entry.name) return entry;
    names.push_back(entry.name);
  }
  throw Error(ErrorKind::bad_usage,
              fmt::format("{} {}: expected one of {}.", what, name, fmt::join(names, ", ")));
}

uint64_t shard(Wide bytes, bool is_sharded, uint64_t shards) {
  return static_cast<uint64_t>(is_sharded ? (bytes + shards - 1) / shards : bytes);
}

}  // namespace

uint64_t parse_parameters(std::string_view text, std::string_view what) {
  auto refuse = [&]() -> Error {
    return Error(
        ErrorKind::bad_usage,
        fmt::format("{} {}: expected a number of parameters up to 9e18, such as 7B, 350M, 1.3B or 1e9", what,
                    text));
  };
  std::string_view rest = text;
  int power = 0;
  if (!rest.empty()) {
    size_t suffix = std::string_view("KMBT").find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(rest.back()))));
    if (suffix != std::string_view::npos) {
      power = 3 * (static_cast<int>(suffix) + 1);
      rest.remove_suffix(1);
    }
  }
  if (size_t e = rest.find_first_of("eE"); e != std::string_view::npos && power == 0) {
    std::string_view digits = rest.substr(e + 1);
    if (digits.empty() || digits.size() > 2) throw refuse();
    for (char c : digits) {
      if (c < '0' || c > '9') throw refuse();
      power = power * 10 + (c - '0');
    }
    rest = rest.substr(0, e);
  }
  Wide number = 0;
  int after_point = 0;
  bool point = false;
  size_t digits = 0;
  for (char c : rest) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9' || ++digits > 20) throw refuse();
    number = number * 10 + static_cast<Wide>(c - '0');
    after_point += point;
  }
  if (digits == 0) throw refuse();
  for (int i = after_point; i < power; ++i) {
    number *= 10;
    if (number >= most) throw refuse();
  }
  for (int i = power; i < after_point; ++i) {
    if (number % 10 != 0) throw refuse();
    number /= 10;
  }
  if (number == 0 || number >= most) throw refuse();
  return static_cast<uint64_t>(number);
}

Estimate make_estimate(std::string name, std::vector<ParameterCount> parameters, uint64_t buffers,
                       const EstimateOptions& options) {
  uint64_t tensors = entry_of(optimizers, options.optimizer, "--optimizer").tensors;
  if (options.shards == 0) throw Error(ErrorKind::bad_usage, "--shards 0: at least 1 is needed");
  Wide weights = 0, gradients = 0, state = 0, master = 0;
  for (ParameterCount& count : parameters) {
    if (!options.dtype.empty()) count.dtype = options.dtype;
    uint64_t bytes = entry_of(types, count.dtype, "type").bytes;
    weights += Wide{count.elements} * bytes;
    if (!options.training) continue;
    gradients += Wide{count.trained} * bytes;
    bool has_master = options.master && bytes < f32_bytes;
    if (has_master) master += Wide{count.trained} * f32_bytes;
    state += Wide{count.trained} * tensors * (has_master ? f32_bytes : bytes);
  }
  Estimate estimate;
  estimate.name = std::move(name);
  estimate.parameters = std::move(parameters);
  estimate.buffers = buffers;
  if (weights + gradients + state + master + buffers >= most)
    throw Error(ErrorKind::bad_usage, estimate.name + ": so many parameters need more than 2^63 bytes");
  int last = options.shards > 1 ? 3 : 0;
  for (int stage = 0; stage <= last; ++stage) {
    EstimateRow row;
    row.stage = stage;
    row.weights = shard(weights, stage >= 3, options.shards);
    row.gradients = shard(gradients, stage >= 2, options.shards);
    row.optimizer_state = shard(state, stage >= 1, options.shards);
    row.master_weights = shard(master, stage >= 1, options.shards);
    row.total = row.weights + row.gradients + row.optimizer_state + row.master_weights + buffers;
    estimate.rows.push_back(row);
  }
  return estimate;
}

std::vector<ParameterCount> parameters_of(const json& model) {
  std::vector<ParameterCount> counts;
  for (const json& tensor : model.value("parameter_tensors", json::array())) {
    std::string dtype = tensor.value("dtype", "f32");
    uint64_t elements = 1;
    for (const json& size : tensor.value("shape", json::array())) elements *= size.get<uint64_t>();
    auto found = std::find_if(counts.begin(), counts.end(),
                              [&](const ParameterCount& count) { return count.dtype == dtype; });
    if (found == counts.end()) found = counts.insert(counts.end(), ParameterCount{dtype, 0, 0});
    found->elements += elements;
    if (tensor.value("requires_grad", true)) found->trained += elements;
  }
  return counts;
}

}  // namespace torchmem
