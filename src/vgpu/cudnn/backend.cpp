// The graph interface: descriptors that hold what they are given, heuristics that offer the engine that a
// device takes first and one without workspace, plans whose workspace comes from the facts, and executions
// that do nothing.
#include "vgpu/cudnn/backend.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "vgpu/cudnn/graph.h"
#include "vgpu/cudnn/modules.h"
#include "vgpu/cudnn/status.h"
#include "vgpu/device/export.h"

namespace torchmem::vgpu {
namespace {

using Name = cudnnBackendAttributeName_t;
using Type = cudnnBackendAttributeType_t;

// What the caller's opaque pointer points to. The value is shared until it changes.
struct BackendHandle {
  BackendValuePointer value;

  BackendValue& change() {
    if (value.use_count() > 1) value = std::make_shared<BackendValue>(*value);
    return *value;
  }
};

// Engines are numbered from 0 in one order for all operations; the facts hold numbers up to 76.
constexpr int64_t engine_count = 128;
constexpr int64_t without_workspace = engine_count - 1;

size_t element_bytes(Type type) {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_FRACTION:
      return 16;
    default:
      return 4;
  }
}

BackendAttribute attribute_of(Name name, Type type, int64_t count, const void* elements) {
  auto* from = static_cast<const unsigned char*>(elements);
  return {name, type, count, {from, from + static_cast<size_t>(count) * element_bytes(type)}, {}};
}

BackendAttribute attribute_of(Name name, BackendValuePointer value) {
  return {name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {std::move(value)}};
}

// An engine configuration for `graph`, without knobs or notes.
BackendValuePointer engine_config(BackendValuePointer graph, int64_t index,
                                  std::shared_ptr<std::atomic<bool>> first_ran) {
  auto engine = std::make_shared<BackendValue>(BackendValue{CUDNN_BACKEND_ENGINE_DESCRIPTOR, true, {}, {}});
  engine->set(attribute_of(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, std::move(graph)));
  engine->set(attribute_of(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index));
  engine->first_ran = std::move(first_ran);
  auto config =
      std::make_shared<BackendValue>(BackendValue{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, true, {}, {}});
  config->set(attribute_of(CUDNN_ATTR_ENGINECFG_ENGINE, std::move(engine)));
  return config;
}

// PyTorch goes through what is offered, and takes the second where the workspace of the first one is out of
// memory. A device offers up to forty: most need about as much as the first one, some little or nothing.
BackendAttribute choose_engines(const BackendValuePointer& graph) {
  auto first_ran = std::make_shared<std::atomic<bool>>(false);
  BackendAttribute engines =
      attribute_of(CUDNN_ATTR_ENGINEHEUR_RESULTS, engine_config(graph, recorded_engine(*graph), first_ran));
  if (has_other_engines(*graph) && graph_workspace(*graph).size.bytes > 0) {
    engines.nested.push_back(engine_config(graph, without_workspace, first_ran));
    engines.count = 2;
  }
  return engines;
}

// What a configuration's engine needs; nothing where it has no engine for a graph.
std::optional<ExecutionPlan> plan_of(const BackendValue& config) {
  const BackendValue* engine = config.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE);
  const BackendValue* graph = engine ? engine->descriptor(CUDNN_ATTR_ENGINE_OPERATION_GRAPH) : nullptr;
  if (!graph) return std::nullopt;
  Workspace workspace = graph_workspace(*graph);
  if (engine->number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX) == without_workspace) {
    workspace.size.knowledge = Knowledge::without;
    return ExecutionPlan{workspace, 0, false, engine->first_ran, /*is_first=*/false};
  }
  // Counted now, so that a plan is known of also when its workspace does not fit.
  return ExecutionPlan{workspace, workspace.size.bytes, true, engine->first_ran};
}

// Attributes that a descriptor has without having been given them, as lists of nothing or as one number.
bool is_empty_list(Name name) {
  return name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES || name == CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO ||
         name == CUDNN_ATTR_ENGINE_KNOB_INFO || name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE ||
         name == CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE || name == CUDNN_ATTR_ENGINE_LAYOUT_INFO ||
         name == CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS;
}

bool known_number(const BackendValue& value, Name name, int64_t& number) {
  switch (name) {
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      number = engine_count;
      return true;
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:
      number = 0;
      return true;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      if (!value.plan) return false;
      number = static_cast<int64_t>(value.plan->bytes);
      return true;
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
      if (std::optional<ExecutionPlan> plan = plan_of(value)) {
        number = static_cast<int64_t>(plan->bytes);
        return true;
      }
      return false;
    default:
      return false;
  }
}

cudnnStatus_t get_descriptors(const BackendAttribute& attribute, int64_t requested, void* elements) {
  auto** handles = static_cast<BackendHandle**>(elements);
  for (int64_t i = 0; i < std::min(requested, attribute.count); ++i) {
    BackendValuePointer value = attribute.nested[static_cast<size_t>(i)];
    if (!handles[i])
      return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "attribute %d: element is null", attribute.name);
    if (handles[i]->value->type != value->type)
      return fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
                  "attribute %d holds a descriptor of type %d, not %d", attribute.name, value->type,
                  handles[i]->value->type);
    handles[i]->value = std::move(value);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize(BackendHandle& handle) {
  BackendValue& value = handle.change();
  if (value.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    const BackendAttribute* graph = value.find(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    if (!graph) return fail(CUDNN_STATUS_BAD_PARAM, "heuristics were finalized without an operation graph");
    value.set(choose_engines(graph->nested[0]));
  } else if (value.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    const BackendValue* config = value.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    std::optional<ExecutionPlan> plan = config ? plan_of(*config) : std::nullopt;
    if (!plan)
      return fail(CUDNN_STATUS_BAD_PARAM, "an execution plan was finalized without an engine for a graph");
    value.plan = std::make_shared<ExecutionPlan>(*plan);
    if (value.plan->counted_at_finalize) count(value.plan->workspace);
    plan_sought(value.plan->workspace.operation);
  }
  value.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

const BackendAttribute* BackendValue::find(Name name) const {
  for (const BackendAttribute& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

const BackendValue* BackendValue::descriptor(Name name) const {
  const BackendAttribute* attribute = find(name);
  return attribute && !attribute->nested.empty() ? attribute->nested[0].get() : nullptr;
}

int64_t BackendValue::number(Name name, size_t i, int64_t otherwise) const {
  const BackendAttribute* attribute = find(name);
  if (!attribute || !attribute->nested.empty() || static_cast<int64_t>(i) >= attribute->count)
    return otherwise;
  size_t bytes = element_bytes(attribute->type);
  const unsigned char* from = attribute->bytes.data() + i * bytes;
  int64_t wide = 0;
  int32_t narrow = 0;
  if (bytes == 1) return *from;
  memcpy(bytes == 4 ? static_cast<void*>(&narrow) : &wide, from, bytes == 4 ? 4 : 8);
  return bytes == 4 ? narrow : wide;
}

void BackendValue::set(BackendAttribute attribute) {
  for (BackendAttribute& had : attributes)
    if (had.name == attribute.name) {
      had = std::move(attribute);
      return;
    }
  attributes.push_back(std::move(attribute));
}

TMV_EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                      cudnnBackendDescriptor_t* descriptor) {
  if (!descriptor)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "cudnnBackendCreateDescriptor: descriptor is null");
  *descriptor = new BackendHandle{std::make_shared<BackendValue>(BackendValue{type, false, {}, {}})};
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<BackendHandle*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor) {
  return descriptor ? CUDNN_STATUS_SUCCESS
                    : fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "cudnnBackendInitialize: descriptor is null");
}

TMV_EXPORT cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, Name name, Type type,
                                                  int64_t count, const void* elements) {
  auto* handle = static_cast<BackendHandle*>(descriptor);
  if (!handle || (count > 0 && !elements))
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                "cudnnBackendSetAttribute: attribute %d: a pointer is null", name);
  if (count < 0)
    return fail(CUDNN_STATUS_BAD_PARAM, "cudnnBackendSetAttribute: attribute %d: %lld elements", name,
                static_cast<long long>(count));
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    handle->change().set(attribute_of(name, type, count, elements));
    return CUDNN_STATUS_SUCCESS;
  }
  BackendAttribute attribute{name, type, count, {}, {}};
  for (int64_t i = 0; i < count; ++i) {
    auto* nested = static_cast<BackendHandle* const*>(elements)[i];
    if (!nested)
      return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                  "cudnnBackendSetAttribute: attribute %d: element is null", name);
    attribute.nested.push_back(nested->value);
  }
  handle->change().set(std::move(attribute));
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, Name name, Type type,
                                                  int64_t requested, int64_t* count, void* elements) {
  auto* handle = static_cast<BackendHandle*>(descriptor);
  if (!handle)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "cudnnBackendGetAttribute: descriptor is null");
  const BackendValue& value = *handle->value;
  auto tell = [&](int64_t found) {
    if (count) *count = found;
  };
  if (const BackendAttribute* attribute = value.find(name)) {
    if (attribute->type != type)
      return fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d is of type %d, not %d", name,
                  attribute->type, type);
    tell(attribute->count);
    if (!elements || requested <= 0) return CUDNN_STATUS_SUCCESS;
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) return get_descriptors(*attribute, requested, elements);
    memcpy(elements, attribute->bytes.data(),
           static_cast<size_t>(std::min(requested, attribute->count)) * element_bytes(type));
    return CUDNN_STATUS_SUCCESS;
  }
  if (is_empty_list(name)) {
    tell(0);
    return CUDNN_STATUS_SUCCESS;
  }
  int64_t number = 0;
  if (!known_number(value, name, number))
    return fail(CUDNN_STATUS_NOT_SUPPORTED, "descriptor of type %d%s has no attribute %d", value.type,
                value.finalized ? "" : " (not finalized)", name);
  tell(1);
  if (!elements || requested <= 0) return CUDNN_STATUS_SUCCESS;
  auto narrow = static_cast<int32_t>(number);
  memcpy(elements, element_bytes(type) == 4 ? static_cast<const void*>(&narrow) : &number,
         element_bytes(type));
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (!descriptor)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "cudnnBackendFinalize: descriptor is null");
  return finalize(*static_cast<BackendHandle*>(descriptor));
}

TMV_EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                             cudnnBackendDescriptor_t variant_pack) {
  if (!handle || !plan || !variant_pack)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                "cudnnBackendExecute: handle, plan or variant pack is null");
  const BackendValue& value = *static_cast<BackendHandle*>(plan)->value;
  if (!value.plan)
    return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "cudnnBackendExecute: the plan is not finalized");
  ExecutionPlan& executed = *value.plan;
  if (executed.first_ran) {
    if (executed.is_first) *executed.first_ran = true;
    // Benchmark mode times all engines and takes the fastest; here time says nothing, and the first one
    // stays.
    if (!executed.is_first && !executed.was_taken && *executed.first_ran)
      return fail(CUDNN_STATUS_NOT_SUPPORTED,
                  "cudnnBackendExecute: the engine without workspace is not timed");
    executed.was_taken = true;
  }
  if (!__atomic_exchange_n(&executed.counted_at_finalize, false, __ATOMIC_RELAXED)) count(executed.workspace);
  plan_executed(executed.workspace.operation);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace torchmem::vgpu
