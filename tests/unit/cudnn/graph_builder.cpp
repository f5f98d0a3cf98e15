#include "graph_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

using namespace torchmem::vgpu;

namespace {

using Name = cudnnBackendAttributeName_t;

struct Attributes {
  int type, convolution, x, w, y;
};

Attributes attributes_of(ConvolutionOperation operation) {
  switch (operation) {
    case ConvolutionOperation::forward:
      return {10, 702, 704, 703, 705};
    case ConvolutionOperation::backward_data:
      return {12, 708, 710, 709, 711};
    case ConvolutionOperation::backward_filter:
      return {11, 714, 716, 715, 717};
  }
  return {};
}

Descriptor tensor(int type, const std::vector<int64_t>& dims, Layout layout) {
  std::vector<int64_t> strides(dims.size());
  int64_t dense = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    size_t axis = i;
    if (layout == Layout::nhwc && i > 0) axis = i + 1 == dims.size() ? 1 : i + 1;
    strides[axis] = dense;
    dense *= dims[axis];
  }
  Descriptor descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {type});
  descriptor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims);
  descriptor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides);
  EXPECT_EQ(descriptor.finalize(), CUDNN_STATUS_SUCCESS);
  return descriptor;
}

template <typename... Descriptors>
std::vector<Descriptor> one(Descriptors... descriptors) {
  std::vector<Descriptor> list;
  (list.push_back(std::move(descriptors)), ...);
  return list;
}

std::vector<int64_t> list(const uint32_t (&values)[3], int count) { return {values, values + count}; }

// Reads one descriptor at `at` and moves past it.
Descriptor read_at(const std::string& text, size_t& at) {
  auto number = [&] {
    size_t used = 0;
    double value = std::stod(text.substr(at, 24), &used);
    at += used;
    return static_cast<int64_t>(value);
  };
  ++at;  // {
  Descriptor descriptor(static_cast<int>(number()));
  ++at;  // :
  while (text[at] != '}') {
    int name = static_cast<int>(number());
    ++at;  // =
    if (text[at] == '{') {
      std::vector<Descriptor> nested;
      while (text[at] == '{') {
        nested.push_back(read_at(text, at));
        if (text[at] == ',') ++at;
      }
      descriptor.set(name, nested);
    } else {
      std::vector<int64_t> values = {number()};
      for (; text[at] == ','; values.push_back(number())) ++at;
      bool flag = name == CUDNN_ATTR_TENSOR_IS_VIRTUAL;
      descriptor.set(name, flag ? CUDNN_TYPE_BOOLEAN : CUDNN_TYPE_INT64, values);
    }
    ++at;  // ;
  }
  ++at;  // }
  EXPECT_EQ(descriptor.finalize(), CUDNN_STATUS_SUCCESS);
  return descriptor;
}

}  // namespace

Descriptor::Descriptor(int type) {
  EXPECT_EQ(cudnnBackendCreateDescriptor(static_cast<cudnnBackendDescriptorType_t>(type), &descriptor_),
            CUDNN_STATUS_SUCCESS);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

Descriptor::~Descriptor() { cudnnBackendDestroyDescriptor(descriptor_); }

void Descriptor::set(int name, cudnnBackendAttributeType_t type, const std::vector<int64_t>& values) {
  std::vector<int32_t> narrow(values.begin(), values.end());
  std::vector<char> flags(values.begin(), values.end());
  const void* data = type == CUDNN_TYPE_INT64     ? static_cast<const void*>(values.data())
                     : type == CUDNN_TYPE_BOOLEAN ? static_cast<const void*>(flags.data())
                                                  : narrow.data();
  EXPECT_EQ(cudnnBackendSetAttribute(descriptor_, static_cast<Name>(name), type,
                                     static_cast<int64_t>(values.size()), data),
            CUDNN_STATUS_SUCCESS);
}

void Descriptor::set(int name, const std::vector<Descriptor>& values) {
  std::vector<cudnnBackendDescriptor_t> pointers;
  for (const Descriptor& value : values) pointers.push_back(value.get());
  EXPECT_EQ(cudnnBackendSetAttribute(descriptor_, static_cast<Name>(name), CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     static_cast<int64_t>(pointers.size()), pointers.data()),
            CUDNN_STATUS_SUCCESS);
}

cudnnStatus_t Descriptor::finalize() { return cudnnBackendFinalize(descriptor_); }

Descriptor convolution_graph(const ConvolutionProblem& problem) {
  int n = problem.dimensions;
  std::vector<int64_t> x = {problem.batch, problem.channels}, y = {problem.batch, problem.filters},
                       w = {problem.filters, problem.channels / problem.groups};
  for (int i = 0; i < n; ++i) {
    x.push_back(problem.input[i]);
    y.push_back(problem.output(i));
    w.push_back(problem.kernel[i]);
  }
  Descriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  convolution.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, list(problem.dilation, n));
  convolution.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, list(problem.stride, n));
  convolution.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, list(problem.padding, n));
  convolution.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, list(problem.padding, n));
  EXPECT_EQ(convolution.finalize(), CUDNN_STATUS_SUCCESS);

  Attributes names = attributes_of(problem.operation);
  Descriptor operation(names.type);
  operation.set(names.convolution, one(std::move(convolution)));
  operation.set(names.x, one(tensor(problem.type, x, problem.layout)));
  operation.set(names.w, one(tensor(problem.type, w, problem.layout)));
  operation.set(names.y, one(tensor(problem.type, y, problem.layout)));
  EXPECT_EQ(operation.finalize(), CUDNN_STATUS_SUCCESS);

  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, one(std::move(operation)));
  EXPECT_EQ(graph.finalize(), CUDNN_STATUS_SUCCESS);
  return graph;
}

Descriptor read_descriptor(const std::string& text) {
  size_t at = 0;
  return read_at(text, at);
}

std::vector<Descriptor> make_plans(Descriptor graph, int64_t most) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, one(std::move(graph)));
  EXPECT_EQ(heuristics.finalize(), CUDNN_STATUS_SUCCESS);
  int64_t count = 0;
  EXPECT_EQ(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
            CUDNN_STATUS_SUCCESS);
  EXPECT_GE(count, 1);
  count = std::min(count, most);
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back(configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  EXPECT_EQ(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, count, nullptr, results.data()),
            CUDNN_STATUS_SUCCESS);
  std::vector<Descriptor> plans;
  for (Descriptor& config : configs) {
    Descriptor& plan = plans.emplace_back(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, one(std::move(config)));
    EXPECT_EQ(plan.finalize(), CUDNN_STATUS_SUCCESS);
  }
  return plans;
}

Descriptor make_plan(Descriptor graph) { return std::move(make_plans(std::move(graph), 1).front()); }

uint64_t plan_workspace(const Descriptor& plan) {
  int64_t bytes = -1;
  EXPECT_EQ(cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                     1, nullptr, &bytes),
            CUDNN_STATUS_SUCCESS);
  return static_cast<uint64_t>(bytes);
}
