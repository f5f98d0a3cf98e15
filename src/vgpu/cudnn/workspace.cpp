#include "vgpu/cudnn/workspace.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "vgpu/device/fidelity.h"
#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

constexpr const char* kOperations[] = {"conv_forward", "conv_backward_data", "conv_backward_filter"};

// The device profile's "cudnn_facts", the name of the file that holds its answers.
void facts_name(char (&name)[64]) {
  snprintf(name, sizeof name, "%s", "h200-cudnn-91900");
  char profile[16384];
  if (tmv_profile_json(profile, sizeof profile) > static_cast<int>(sizeof profile)) return;
  const char* at = strstr(profile, "\"cudnn_facts\"");
  if (at && (at = strchr(at + strlen("\"cudnn_facts\""), '"'))) {
    size_t length = strcspn(at + 1, "\"");
    if (length < sizeof name) snprintf(name, sizeof name, "%.*s", static_cast<int>(length), at + 1);
  }
}

const Facts* open_facts() {
  auto* facts = new Facts;
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&cudnn_facts), &here) || !here.dli_fname) return facts;
  const char* slash = strrchr(here.dli_fname, '/');
  char name[64], path[4096];
  facts_name(name);
  int folder = slash ? static_cast<int>(slash - here.dli_fname) + 1 : 0;
  snprintf(path, sizeof path, "%.*sfacts/%s.bin", folder, here.dli_fname, name);
  facts->open(path);
  return facts;
}

// Text built piece by piece into a fixed array, cut where it ends.
class Words {
 public:
  Words(char* text, size_t size) : at_(text), end_(text + size) {}

  template <typename... Values>
  Words& add(const char* format, Values... values) {
    int length = snprintf(at_, static_cast<size_t>(end_ - at_), format, values...);
    at_ += length < end_ - at_ ? length : end_ - at_ - 1;
    return *this;
  }

  Words& sizes(const char* before, const uint32_t (&values)[3], int count) {
    for (int i = 0; i < count; ++i) add("%s%u", i ? "x" : before, values[i]);
    return *this;
  }

 private:
  char* at_;
  char* end_;
};

bool all(const uint32_t (&values)[3], int count, uint32_t wanted) {
  for (int i = 0; i < count; ++i)
    if (values[i] != wanted) return false;
  return true;
}

void describe(const ConvolutionProblem& problem, char* text, size_t size) {
  int n = problem.dimensions;
  Words words(text, size);
  words.add("%s %s %ux%u", data_type_name(problem.type), problem.layout == Layout::kNhwc ? "nhwc" : "nchw",
            problem.batch, problem.channels);
  words.sizes("x", problem.input, n).add(" -> %u", problem.filters).sizes(" k", problem.kernel, n);
  if (!all(problem.padding, n, 0)) words.sizes(" p", problem.padding, n);
  if (!all(problem.stride, n, 1)) words.sizes(" s", problem.stride, n);
  if (!all(problem.dilation, n, 1)) words.sizes(" d", problem.dilation, n);
  if (problem.groups > 1) words.add(" g%u", problem.groups);
}

}  // namespace

const Facts& cudnn_facts() {
  static const Facts* facts = open_facts();
  return *facts;
}

Workspace convolution_workspace(const ConvolutionProblem& problem) {
  Workspace workspace;
  workspace.operation = kOperations[static_cast<int>(problem.operation)];
  describe(problem, workspace.problem, sizeof workspace.problem);
  workspace.size = convolution_workspace(cudnn_facts(), problem);
  return workspace;
}

Workspace named_workspace(const char* operation, const char* key, const uint64_t* estimate) {
  Workspace workspace;
  workspace.operation = operation;
  size_t begin = strlen(operation);
  snprintf(workspace.problem, sizeof workspace.problem, "%s", key + begin + (key[begin] == ' '));
  if (const NamedFact* fact = cudnn_facts().find(key))
    workspace.size = {fact->bytes, Knowledge::kRecorded};
  else if (estimate)
    workspace.size = {*estimate, Knowledge::kEstimated};
  return workspace;
}

void count(const Workspace& workspace) {
  tmv_count_workspace("cudnn", workspace.operation, workspace.problem, workspace.size.bytes,
                      static_cast<int>(workspace.size.knowledge));
}

}  // namespace torchmem::vgpu
