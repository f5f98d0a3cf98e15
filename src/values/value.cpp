#include "values/value.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "values/tensor_memory.h"
#include "values/virtual_device.h"

namespace torchmem::values {
namespace {

constexpr std::int64_t most_runs = 1 << 16;  // beyond it what lies between the elements is forgotten too

constexpr std::size_t remembered = 1 << 16;  // bytes from which on a tensor's type is kept

// torch.save copies bytes, not tensors: this tells what they would be.
class WrittenTypes {
 public:
  void remember(const Place& place) {
    const std::lock_guard lock(mutex_);
    if (types_.size() >= most) types_.clear();
    types_[place.address] = place.dtype;
  }
  std::optional<at::ScalarType> at(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = types_.find(address);
    return found == types_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static constexpr std::size_t most = 1 << 16;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, at::ScalarType> types_;
};

WrittenTypes& written_types() {
  static auto* instance = new WrittenTypes;
  return *instance;
}

State worse(State a, State b) { return std::min(a, b); }

State peek(std::uint64_t address, std::size_t bytes, void* to) {
  return static_cast<State>(virtual_device().peek(address, bytes, to));
}

bool lies_side_by_side(const Place& place) {
  return place.span_bytes() == static_cast<std::size_t>(place.elements()) * place.item_bytes();
}

// Calls `run(offset in elements, elements)` for each stretch of elements that lie side by side.
template <class Run>
void for_each_run(const Place& place, Run&& run) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < place.sizes.size(); ++i) {
    if (place.sizes[i] != 1 && place.strides[i] != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return place.strides[a] < place.strides[b]; });
  std::int64_t length = 1;
  std::size_t inner = 0;
  while (inner < order.size() && place.strides[order[inner]] == length) length *= place.sizes[order[inner++]];
  std::vector<std::int64_t> index(order.size(), 0);
  for (std::int64_t offset = 0;;) {
    run(offset, length);
    std::size_t dimension = inner;
    for (; dimension < order.size(); ++dimension) {
      const std::size_t i = order[dimension];
      offset += place.strides[i];
      if (++index[dimension] < place.sizes[i]) break;
      offset -= place.strides[i] * place.sizes[i];
      index[dimension] = 0;
    }
    if (dimension == order.size()) return;
  }
}

}  // namespace

std::int64_t Place::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t Place::span_bytes() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return static_cast<std::size_t>(last + 1) * item_bytes();
}

std::optional<Place> place_of(const at::Tensor& tensor) {
  const std::uint64_t storage = storage_address(tensor);
  if (storage == 0 &&
      !(tensor.defined() && tensor.is_cuda() && tensor.numel() == 0 && tensor.layout() == at::kStrided &&
        !tensor.is_nested() && !tensor.key_set().has(c10::DispatchKey::Python)))
    return std::nullopt;
  Place place;
  place.dtype = tensor.scalar_type();
  place.address = storage + static_cast<std::uint64_t>(tensor.storage_offset()) * tensor.itemsize();
  place.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  place.strides.assign(tensor.strides().begin(), tensor.strides().end());
  place.conjugate = tensor.is_conj();
  place.negative = tensor.is_neg();
  return place;
}

State state_of(const Place& place) {
  const std::size_t span = place.span_bytes();
  if (span == 0) return State::known;
  const State whole = peek(place.address, span, nullptr);
  if (whole != State::unknown || lies_side_by_side(place)) return whole;
  State worst = State::known;
  const std::size_t item = place.item_bytes();
  for_each_run(place, [&](std::int64_t offset, std::int64_t length) {
    if (worst == State::unknown) return;
    worst = worse(worst, peek(place.address + static_cast<std::uint64_t>(offset) * item,
                              static_cast<std::size_t>(length) * item, nullptr));
  });
  return worst;
}

at::Tensor read(const Place& place, State& state) {
  const std::size_t item = place.item_bytes();
  const auto elements = static_cast<std::int64_t>(place.span_bytes() / item);
  at::Tensor memory = at::detail::empty_cpu({elements}, place.dtype);
  state = State::known;
  if (elements > 0) {
    auto* bytes = static_cast<char*>(memory.data_ptr());
    state = peek(place.address, place.span_bytes(), bytes);
    if (state == State::unknown) state = state_of(place);
  }
  at::Tensor values = memory.as_strided(place.sizes, place.strides);
  if (place.conjugate) values = at::_conj(values);
  if (place.negative) values = at::_neg_view(values);
  return values;
}

void write(const Place& place, const at::Tensor& given, State state) {
  const std::size_t span = place.span_bytes();
  if (span == 0) return;
  const std::size_t item = place.item_bytes();
  at::Tensor values = given;
  if (place.conjugate) values = values.conj().resolve_conj();
  if (place.negative) values = values.neg();
  at::Tensor memory = at::detail::empty_cpu({static_cast<std::int64_t>(span / item)}, place.dtype);
  auto* bytes = static_cast<char*>(memory.data_ptr());
  memory.as_strided(place.sizes, place.strides).copy_(values);
  for_each_run(place, [&](std::int64_t offset, std::int64_t length) {
    const auto at = static_cast<std::size_t>(offset) * item;
    virtual_device().poke(place.address + at, static_cast<std::size_t>(length) * item, bytes + at,
                          static_cast<int>(state));
  });
}

bool write_all(const Place& place, const at::Tensor& value, State state) {
  if (!lies_side_by_side(place) || place.conjugate || place.negative) return false;
  const at::Tensor one = value.to(place.dtype).contiguous();
  virtual_device().repeat(place.address, place.span_bytes(), one.const_data_ptr(), place.item_bytes(),
                          static_cast<int>(state));
  return true;
}

void forget(const Place& place) {
  const std::size_t span = place.span_bytes();
  if (span == 0) return;
  if (span >= remembered && at::isFloatingType(place.dtype)) written_types().remember(place);
  if (lies_side_by_side(place) || place.elements() > most_runs) {
    virtual_device().written(place.address, span);
    return;
  }
  const std::size_t item = place.item_bytes();
  for_each_run(place, [&](std::int64_t offset, std::int64_t length) {
    virtual_device().written(place.address + static_cast<std::uint64_t>(offset) * item,
                             static_cast<std::size_t>(length) * item);
  });
}

std::optional<at::ScalarType> type_written_at(std::uint64_t address) { return written_types().at(address); }

}  // namespace torchmem::values
