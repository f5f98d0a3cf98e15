#include "vgpu/cudnn/workspace.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vgpu/device/assumptions.h"
#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

constexpr const char* operation_names[] = {"conv_forward", "conv_backward_data", "conv_backward_filter"};

constexpr const char* default_facts = "h200-cudnn-91900";

struct Source {
  Facts facts;
  bool another_device = false;  // the device's profile names no facts: these are the nearest thing to them
};

// The profile's "cudnn_facts", the name of the file that holds its answers; false where it names none.
bool read_facts_name(const char* profile, char (&name)[64]) {
  const char* at = strstr(profile, "\"cudnn_facts\"");
  if (!at || !(at = strchr(at + strlen("\"cudnn_facts\""), '"'))) return false;
  size_t length = strcspn(at + 1, "\"");
  if (length >= sizeof name) return false;
  snprintf(name, sizeof name, "%.*s", static_cast<int>(length), at + 1);
  return true;
}

const Source* open_source() {
  auto* source = new Source;
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&cudnn_facts), &here) || !here.dli_fname) return source;
  char name[64];
  snprintf(name, sizeof name, "%s", default_facts);
  if (int size = tmv_profile_json(nullptr, 0); size > 0) {
    auto* profile = static_cast<char*>(calloc(1, static_cast<size_t>(size) + 1));
    if (!profile) return source;
    tmv_profile_json(profile, static_cast<size_t>(size) + 1);
    source->another_device = !read_facts_name(profile, name);
    free(profile);
  }
  char path[4096];
  const char* slash = strrchr(here.dli_fname, '/');
  int folder = slash ? static_cast<int>(slash - here.dli_fname) + 1 : 0;
  snprintf(path, sizeof path, "%.*sfacts/%s.bin", folder, here.dli_fname, name);
  source->facts.open(path);
  return source;
}

const Source& source() {
  static const Source* opened = open_source();
  return *opened;
}

// What was recorded on another device is an estimate for this one.
WorkspaceSize on_this_device(WorkspaceSize size) {
  if (source().another_device && size.knowledge == Knowledge::recorded) size.knowledge = Knowledge::estimated;
  return size;
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
  words.add("%s %s %ux%u", data_type_name(problem.type), problem.layout == Layout::nhwc ? "nhwc" : "nchw",
            problem.batch, problem.channels);
  words.sizes("x", problem.input, n).add(" -> %u", problem.filters).sizes(" k", problem.kernel, n);
  if (!all(problem.padding, n, 0)) words.sizes(" p", problem.padding, n);
  if (!all(problem.stride, n, 1)) words.sizes(" s", problem.stride, n);
  if (!all(problem.dilation, n, 1)) words.sizes(" d", problem.dilation, n);
  if (problem.groups > 1) words.add(" g%u", problem.groups);
}

}  // namespace

const Facts& cudnn_facts() { return source().facts; }

Workspace convolution_workspace(const ConvolutionProblem& problem) {
  Workspace workspace;
  workspace.operation = operation_names[static_cast<int>(problem.operation)];
  describe(problem, workspace.problem, sizeof workspace.problem);
  workspace.size = on_this_device(convolution_workspace(cudnn_facts(), problem));
  return workspace;
}

Workspace named_workspace(const char* operation, const char* key, WorkspaceSize otherwise) {
  Workspace workspace;
  workspace.operation = operation;
  size_t begin = strlen(operation);
  snprintf(workspace.problem, sizeof workspace.problem, "%s", key + begin + (key[begin] == ' '));
  const NamedFact* fact = cudnn_facts().find(key);
  workspace.size = on_this_device(fact ? WorkspaceSize{fact->bytes, Knowledge::recorded} : otherwise);
  return workspace;
}

void count(const Workspace& workspace) {
  tmv_count_workspace("cudnn", workspace.operation, workspace.problem, workspace.size.bytes,
                      static_cast<int>(workspace.size.knowledge));
}

}  // namespace torchmem::vgpu
