#include "values/operator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "values/equivalents.h"

namespace torchmem::values {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Operators that change what a tensor is, not what its memory holds, and yet mark it as written.
constexpr std::string_view memory_kept[] = {
    "aten::_resize_output_", "aten::as_strided_", "aten::detach_",    "aten::record_stream", "aten::rename_",
    "aten::requires_grad_",  "aten::resize_",     "aten::resize_as_", "aten::retain_grad",   "aten::set_",
    "aten::set_data",        "aten::squeeze_",    "aten::swapaxes_",  "aten::swapdims_",     "aten::t_",
    "aten::transpose_",      "aten::unsqueeze_",
};

// Memory that is given as it is, or other kinds of work that have no value of their own.
constexpr std::string_view not_computed[] = {
    "aten::_local_scalar_dense",
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::empty_permuted",
    "aten::new_empty",
    "aten::lift",
    "aten::lift_fresh",
    "aten::new_empty_strided",
    "aten::_pin_memory",
    "aten::pin_memory",
    "aten::is_pinned",
    "aten::item",
    "aten::is_nonzero",
    "aten::record_stream",
    "aten::_to_cpu",
};

// They need what the CPU's forward leaves to them, which CUDA's does not.
constexpr std::string_view differ_on_the_cpu[] = {
    "aten::log_sigmoid_backward",
    "aten::_embedding_bag_backward",
    "aten::_embedding_bag_dense_backward",
    "aten::_embedding_bag_per_sample_weights_backward",
};

// Write elements of their first argument that other arguments name.
constexpr std::string_view write_parts[] = {
    "aten::scatter_",         "aten::put_",
    "aten::index_copy_",      "aten::index_put_",
    "aten::_index_put_impl_", "aten::masked_scatter_",
    "aten::masked_fill_",     "aten::index_fill_",
};

// In-place operators whose argument's earlier contents do not matter.
constexpr std::string_view overwriting[] = {"aten::copy_",        "aten::fill_",     "aten::zero_",
                                            "aten::random_",      "aten::uniform_",  "aten::normal_",
                                            "aten::bernoulli_",   "aten::cauchy_",   "aten::log_normal_",
                                            "aten::exponential_", "aten::geometric_"};

// Read a count from the device before they allocate their result, or the result itself.
constexpr std::string_view read_back[] = {"aten::equal",
                                          "aten::_coalesce",
                                          "aten::nonzero",
                                          "aten::_unique",
                                          "aten::_unique2",
                                          "aten::unique_dim",
                                          "aten::unique_consecutive",
                                          "aten::masked_select",
                                          "aten::unique_dim_consecutive",
                                          "torchvision::nms"};

// Write their running statistics although the schema does not say so; the numbers are the positions.
struct HiddenWrites {
  std::string_view name;
  std::array<std::uint32_t, 2> positions;
  std::optional<std::uint32_t> only_if;
};
constexpr HiddenWrites hidden_writes[] = {
    {"aten::native_batch_norm", {3, 4}, 5},
    {"aten::cudnn_batch_norm", {3, 4}, 5},
    {"aten::miopen_batch_norm", {3, 4}, 5},
    {"aten::batch_norm_gather_stats", {3, 4}, std::nullopt},
    {"aten::batch_norm_update_stats", {1, 2}, std::nullopt},
    {"aten::batch_norm_gather_stats_with_counts", {3, 4}, std::nullopt},
};

struct Meaning {
  std::string_view name;
  StandIn stand_in;
};
// Where it is not true, of booleans, nor 0, of integers.
constexpr Meaning meanings[] = {
    {"aten::isnan", StandIn::is_false},
    {"aten::isinf", StandIn::is_false},
    {"aten::isposinf", StandIn::is_false},
    {"aten::isneginf", StandIn::is_false},
    {"aten::any", StandIn::is_false},
    {"aten::eq", StandIn::is_false},
    {"aten::lt", StandIn::is_false},
    {"aten::le", StandIn::is_false},
    {"aten::logical_not", StandIn::is_false},
    {"aten::signbit", StandIn::is_false},
    {"aten::argmax", StandIn::index},
    {"aten::argmin", StandIn::index},
    {"aten::max", StandIn::index},
    {"aten::min", StandIn::index},
    {"aten::topk", StandIn::index},
    {"aten::sort", StandIn::index},
    {"aten::argsort", StandIn::index},
    {"aten::kthvalue", StandIn::index},
    {"aten::mode", StandIn::index},
    {"aten::median", StandIn::index},
    {"aten::nanmedian", StandIn::index},
    {"aten::cummax", StandIn::index},
    {"aten::cummin", StandIn::index},
    {"aten::multinomial", StandIn::index},
    {"aten::_aminmax", StandIn::index},
    {"aten::sum", StandIn::count},
    {"aten::count_nonzero", StandIn::count},
    {"aten::isfinite", StandIn::is_true},
    {"aten::all", StandIn::is_true},
    {"aten::ne", StandIn::is_true},
    {"aten::gt", StandIn::is_true},
    {"aten::ge", StandIn::is_true},
    {"aten::logical_and", StandIn::is_true},
    {"aten::logical_or", StandIn::is_true},
    {"aten::isclose", StandIn::is_true},
    {"aten::searchsorted", StandIn::is_true},
    {"aten::bucketize", StandIn::is_true},
    {"aten::nonzero", StandIn::is_true},
    {"aten::_unique2", StandIn::is_true},
};

// What it receives is put there by NCCL.
bool is_communication(const std::string& name) {
  return name.starts_with("c10d::") || name.starts_with("_c10d_functional::") ||
         name.starts_with("symm_mem::");
}

// What the schema and the dispatcher say.
void read_schema(Operator& op, const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const bool keeps_memory = is_one_of(op.name, memory_kept);
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    if (argument.name() == "dim") op.dimension = i;
    if (argument.name() == "generator") op.generator = i;
    if (argument.alias_info() == nullptr || !argument.alias_info()->isWrite() || keeps_memory) continue;
    op.written.push_back(i);
    if (argument.kwarg_only() || (i == 0 && is_one_of(op.name, overwriting))) op.overwritten.push_back(i);
  }
  const bool is_view = std::any_of(schema.returns().begin(), schema.returns().end(), [](const auto& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  });
  const auto& handle = *op.handle;
  const auto has = [&](c10::DispatchKey key) { return handle.hasKernelForDispatchKey(key); };
  op.has_kernel = has(c10::DispatchKey::CUDA) && !is_view && !keeps_memory && !is_communication(op.name);
  op.is_copy = op.name == "aten::copy_";
  op.arguments = arguments.size();
  op.returns = schema.returns().size();
  op.is_random = handle.hasTag(at::Tag::nondeterministic_seeded);
  op.is_computed =
      !is_view && !keeps_memory && !is_one_of(op.name, not_computed) &&
      !is_one_of(op.name, differ_on_the_cpu) && !is_communication(op.name) &&
      (handle.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU) || has_equivalent(op.name)) &&
      (!op.is_random || op.generator || !op.has_kernel);
}

std::unique_ptr<Operator> make_operator(const at::RecordFunction& fn) {
  auto op = std::make_unique<Operator>();
  op->name = fn.name();
  const auto schema = fn.operator_schema();
  if (!schema) return op;
  op->handle = c10::Dispatcher::singleton().findSchema({schema->name(), schema->overload_name()});
  if (op->handle) read_schema(*op, *schema);
  for (const auto& hidden : hidden_writes) {
    if (hidden.name != op->name) continue;
    op->written.insert(op->written.end(), hidden.positions.begin(), hidden.positions.end());
    op->written_if = hidden.only_if;
  }
  for (const auto& meaning : meanings) {
    if (meaning.name != op->name) continue;
    op->stand_in = meaning.stand_in;
    op->compares = meaning.name != "aten::sum";
  }
  op->wants_own_elements =
      is_one_of(op->name, {"aten::median", "aten::nanmedian", "aten::kthvalue", "aten::mode"});
  op->writes_parts = is_one_of(op->name, write_parts);
  op->is_fill = is_one_of(op->name, {"aten::fill_", "aten::zero_"});
  op->reads_back = is_one_of(op->name, read_back);
  if (is_one_of(op->name, {"aten::unique_dim", "aten::unique_dim_consecutive"})) op->size_dimension_at = 1;
  if (op->name == "aten::_local_scalar_dense") op->read = 0;
  if (op->name == "aten::copy_") op->read = 1;
  op->is_truth = op->name == "aten::is_nonzero";
  if (op->is_truth) op->read = 0;
  op->looks_for_overflow = op->name == "aten::_amp_foreach_non_finite_check_and_unscale_";
  op->is_foreach = op->name.starts_with("aten::_foreach_") || op->name.starts_with("aten::_fused_");
  return op;
}

struct Key {
  const char* name = nullptr;
  const char* overload = nullptr;
  bool operator==(const Key&) const = default;
};
struct Hash {
  std::size_t operator()(const Key& key) const {
    return (reinterpret_cast<std::uintptr_t>(key.name) >> 3) * 31 +
           (reinterpret_cast<std::uintptr_t>(key.overload) >> 3);
  }
};

struct Known {
  std::mutex mutex;
  std::unordered_map<Key, std::unique_ptr<Operator>, Hash> operators;
};
Known& known() {
  static auto* instance = new Known;  // threads outlive static destructors
  return *instance;
}

}  // namespace

bool Operator::overwrites(std::uint32_t position) const {
  return std::find(overwritten.begin(), overwritten.end(), position) != overwritten.end();
}

const Operator& operator_of(const at::RecordFunction& fn) {
  struct Slot {
    Key key;
    const Operator* op = nullptr;
  };
  thread_local std::array<Slot, 512> slots;
  const Key key{fn.name(), fn.overload_name()};
  auto& slot = slots[Hash()(key) % slots.size()];
  if (slot.op != nullptr && slot.key == key && std::strcmp(slot.op->name.c_str(), key.name) == 0)
    return *slot.op;
  const std::lock_guard lock(known().mutex);
  auto& entry = known().operators[key];
  if (!entry || entry->name != key.name) entry = make_operator(fn);
  slot = {key, entry.get()};
  return *entry;
}

}  // namespace torchmem::values
