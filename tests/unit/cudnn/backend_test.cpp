// The graph interface behaves as cuDNN's frontend relies on.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cudnn_functions.h"
#include "device.h"
#include "graph_builder.h"

using namespace torchmem::vgpu;

namespace {

ConvolutionProblem resnet_stem(ConvolutionOperation operation) {
  ConvolutionProblem problem;
  problem.operation = operation;
  problem.batch = 32;
  problem.channels = 3;
  problem.filters = 64;
  for (int i = 0; i < 2; ++i) {
    problem.input[i] = 224;
    problem.kernel[i] = 7;
    problem.padding[i] = 3;
    problem.stride[i] = 2;
    problem.dilation[i] = 1;
  }
  return problem;
}

void execute(const Descriptor& plan, cudnnStatus_t expected = CUDNN_STATUS_SUCCESS) {
  cudnnHandle_t handle = nullptr;
  ASSERT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  ASSERT_EQ(pack.finalize(), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnBackendExecute(handle, plan.get(), pack.get()), expected);
  cudnnDestroy(handle);
}

}  // namespace

TEST(Backend, ChangingADescriptorLeavesWhatHoldsIt) {
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, {1, 2, 3, 4});
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  cudnnBackendDescriptor_t pointer = tensor.get();
  cudnnBackendSetAttribute(operation.get(), CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &pointer);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, {5, 6, 7, 8});
  Descriptor copy(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  pointer = copy.get();
  int64_t count = 0;
  ASSERT_EQ(cudnnBackendGetAttribute(operation.get(), CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &pointer),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
  int64_t dims[4] = {};
  ASSERT_EQ(
      cudnnBackendGetAttribute(copy.get(), CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, &count, dims),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 4);
  EXPECT_EQ(dims[0], 1);
  EXPECT_EQ(dims[3], 4);
}

TEST(Backend, EnginesHaveNoNotesAndOneNumberForEachCount) {
  Descriptor plan = make_plan(convolution_graph(resnet_stem(ConvolutionOperation::forward)));
  Descriptor config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t pointer = config.get();
  int64_t count = -1;
  ASSERT_EQ(cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &pointer),
            CUDNN_STATUS_SUCCESS);
  pointer = engine.get();
  ASSERT_EQ(cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     1, &count, &pointer),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                     CUDNN_TYPE_NUMERICAL_NOTE, 10, &count, nullptr),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 44, &count, nullptr),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 0);
  int32_t shared = -1;
  EXPECT_EQ(cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, CUDNN_TYPE_INT32,
                                     1, &count, &shared),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(shared, 0);
  int64_t bytes = -1;
  EXPECT_EQ(cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                     &count, &bytes),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<uint64_t>(bytes), plan_workspace(plan));
}

TEST(Backend, EachExecutionCountsOnce) {
  device::forget();
  Descriptor plan = make_plan(convolution_graph(resnet_stem(ConvolutionOperation::forward)));
  EXPECT_EQ(device::workspaces.size(), 1u);  // known of even if the workspace does not fit
  execute(plan);
  EXPECT_EQ(device::workspaces.size(), 1u);
  execute(plan);
  ASSERT_EQ(device::workspaces.size(), 2u);
  EXPECT_EQ(device::workspaces[1].operation, "conv_forward");
  EXPECT_EQ(device::workspaces[1].problem, "f32 nchw 32x3x224x224 -> 64 k7x7 p3x3 s2x2");
}

TEST(Backend, AConvolutionHasAnEngineWithoutWorkspaceToo) {
  device::forget();
  std::vector<Descriptor> plans = make_plans(convolution_graph(resnet_stem(ConvolutionOperation::forward)));
  ASSERT_EQ(plans.size(), 2u);
  uint64_t first = plan_workspace(plans[0]);
  EXPECT_GT(first, 0u);
  EXPECT_EQ(plan_workspace(plans[1]), 0u);
  EXPECT_EQ(device::workspaces.size(), 1u);  // the second one is counted when it is taken
  execute(plans[1]);
  ASSERT_EQ(device::workspaces.size(), 2u);
  EXPECT_EQ(device::workspaces[1].how, 3);
  EXPECT_EQ(device::workspaces[1].bytes, first);
}

TEST(Backend, OfEnginesThatAreTimedTheFirstStays) {
  device::forget();
  std::vector<Descriptor> plans = make_plans(convolution_graph(resnet_stem(ConvolutionOperation::forward)));
  execute(plans[0]);
  execute(plans[1], CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(device::workspaces.size(), 1u);
}

TEST(Backend, AttentionHasOneEngine) {
  EXPECT_EQ(make_plans(read_descriptor("{15:801={29:2000=0;};}")).size(), 1u);
}

TEST(Backend, AConvolutionLoadsKernelsWhenItIsPlannedAndWhenItRuns) {
  device::forget();
  Descriptor plan = make_plan(convolution_graph(resnet_stem(ConvolutionOperation::forward)));
  EXPECT_EQ(device::loads, std::vector<Load>{Load::convolution_plan});
  execute(plan);
  ASSERT_FALSE(device::loads.empty());
  EXPECT_EQ(device::loads.back(), Load::convolution_kernel);
}

// In a process of its own, as facts are opened once.
TEST(BackendDeathTest, AnotherDevicesFactsAreEstimates) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto ask = [](const char* profile) {
    device::profile = profile;
    device::forget();
    make_plan(convolution_graph(resnet_stem(ConvolutionOperation::forward)));
    exit(device::workspaces.at(0).how);
  };
  EXPECT_EXIT(ask(R"({"name": "other"})"), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(ask(R"({"cudnn_facts": "h200-cudnn-91900"})"), testing::ExitedWithCode(0), "");
}

TEST(Backend, AnUnknownGraphIsCountedAsUnknown) {
  device::forget();
  EXPECT_EQ(plan_workspace(make_plan(read_descriptor("{15:801={29:2000=0;};}"))), 0u);
  ASSERT_EQ(device::workspaces.size(), 1u);
  EXPECT_EQ(device::workspaces[0].how, 2);
  EXPECT_EQ(device::workspaces[0].problem, "29");
}

TEST(Backend, AFusedConvolutionIsEstimatedFromTheConvolution) {
  std::string tensor = "{17:901=0;902=32,64,112,112;903=802816,12544,112,1;}";
  std::string convolution =
      "{10:702={1:102=1,1;103=2,2;104=3,3;105=3,3;};703={17:901=0;902=64,3,7,7;903=147,49,7,1;};"
      "704={17:901=0;902=32,3,224,224;903=150528,50176,224,1;};705=" +
      tensor + ";}";
  std::string activation = "{13:751=" + tensor + ";753=" + tensor + ";}";
  device::forget();
  uint64_t alone = plan_workspace(make_plan(read_descriptor("{15:801=" + convolution + ";}")));
  uint64_t fused =
      plan_workspace(make_plan(read_descriptor("{15:801=" + convolution + "," + activation + ";}")));
  EXPECT_EQ(fused, alone);
  ASSERT_EQ(device::workspaces.size(), 2u);
  EXPECT_EQ(device::workspaces[0].how, 0);
  EXPECT_EQ(device::workspaces[1].how, 1);
}

TEST(Backend, ErrorsSayWhatWasExpected) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  EXPECT_EQ(plan.finalize(), CUDNN_STATUS_BAD_PARAM);
  char message[256] = {};
  cudnnGetLastErrorString(message, sizeof message);
  EXPECT_STREQ(message, "an execution plan was finalized without an engine for a graph");
  EXPECT_STREQ(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
}

TEST(Backend, TheOlderInterfaceGivesTheSameWorkspace) {
  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnCreate(&handle);
  cudnnCreateTensorDescriptor(&x);
  cudnnCreateTensorDescriptor(&y);
  cudnnCreateFilterDescriptor(&w);
  cudnnCreateConvolutionDescriptor(&convolution);
  int x_dims[] = {32, 3, 224, 224}, x_strides[] = {150528, 50176, 224, 1};
  int y_dims[] = {32, 64, 112, 112}, y_strides[] = {802816, 12544, 112, 1};
  int w_dims[] = {64, 3, 7, 7}, padding[] = {3, 3}, stride[] = {2, 2}, dilation[] = {1, 1};
  cudnnSetTensorNdDescriptor(x, 0, 4, x_dims, x_strides);
  cudnnSetTensorNdDescriptor(y, 0, 4, y_dims, y_strides);
  cudnnSetFilterNdDescriptor(w, 0, 0, 4, w_dims);
  cudnnSetConvolutionNdDescriptor(convolution, 2, padding, stride, dilation, 1, 0);
  cudnnConvolutionAlgoPerf_t found[2];
  int count = 0;
  ASSERT_EQ(cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, convolution, y, 2, &count, found),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
  uint64_t graph = plan_workspace(make_plan(convolution_graph(resnet_stem(ConvolutionOperation::forward))));
  EXPECT_EQ(found[0].memory, graph);
  size_t bytes = 1;
  cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, convolution, y, found[0].algo, &bytes);
  EXPECT_EQ(bytes, graph);
  cudnnDestroyConvolutionDescriptor(convolution);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyTensorDescriptor(y);
  cudnnDestroyTensorDescriptor(x);
  cudnnDestroy(handle);
}
