#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/cudnn/api.h"
#include "vgpu/cudnn/workspace.h"

namespace torchmem::vgpu {

struct BackendValue;
using BackendValuePointer = std::shared_ptr<BackendValue>;

// One attribute of a backend descriptor. Nested descriptors are held by value: the caller may destroy the one
// that it set as soon as it has set it.
struct BackendAttribute {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<unsigned char> bytes;         // of every type but descriptors
  std::vector<BackendValuePointer> nested;  // of descriptors; never changed once they are here
};

// What an execution plan knows once it is finalized.
struct ExecutionPlan {
  Workspace workspace;               // as it is counted
  uint64_t bytes;                    // that the plan asks for
  bool counted_at_finalize = false;  // the first execution was counted then
  // Shared by the plans of one choice of engines: the first engine's plan was executed.
  std::shared_ptr<std::atomic<bool>> first_ran = nullptr;
  bool is_first = true;
  bool was_taken = false;  // of another than the first: it was executed
};

// What a backend descriptor holds.
struct BackendValue {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::vector<BackendAttribute> attributes;
  std::shared_ptr<ExecutionPlan> plan;                     // of a finalized execution plan
  std::shared_ptr<std::atomic<bool>> first_ran = nullptr;  // of an engine, as in ExecutionPlan

  const BackendAttribute* find(cudnnBackendAttributeName_t name) const;

  // The first nested descriptor of an attribute, or nullptr.
  const BackendValue* descriptor(cudnnBackendAttributeName_t name) const;

  // The i-th number of an int64, int32, enumeration or boolean attribute, or `otherwise`.
  int64_t number(cudnnBackendAttributeName_t name, size_t i = 0, int64_t otherwise = 0) const;

  void set(BackendAttribute attribute);
};

}  // namespace torchmem::vgpu
