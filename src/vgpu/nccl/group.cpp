// Groups: what a thread calls between ncclGroupStart and ncclGroupEnd begins together, so that a send may
// wait for a receive that comes after it.
#include <utility>

#include "operation.h"

namespace torchmem::vgpu::nccl {
namespace {

// The object is made by the first operation of a group and lives to its end: nothing is left to destroy when
// a thread ends.
thread_local int depth = 0;
thread_local std::vector<Operation>* waiting = nullptr;

constexpr int success = 0;
constexpr int invalid_usage = 5;  // ncclInvalidUsage

}  // namespace

int submit(const Operation& operation) {
  if (depth > 0) {
    if (!waiting) waiting = new std::vector<Operation>();
    waiting->push_back(operation);
  } else {
    receive(post(operation));
  }
  return success;
}

int group_start() {
  ++depth;
  return success;
}

int group_end() {
  if (depth == 0) return invalid_usage;
  if (--depth > 0 || !waiting) return success;
  std::unique_ptr<std::vector<Operation>> operations(std::exchange(waiting, nullptr));
  std::vector<Posted> posted;
  for (const Operation& operation : *operations) posted.push_back(post(operation));
  for (const Posted& one : posted) receive(one);
  return success;
}

}  // namespace torchmem::vgpu::nccl
