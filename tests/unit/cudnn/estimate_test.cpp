// How good the estimate of unrecorded convolutions is: the problems of real models, whose engines were not
// recorded, are estimated from the random ones alone. The bounds are near what was measured
// (docs/facts/cudnn.md), so that a change that makes it worse is seen.
#include "vgpu/workspaces/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "cudnn_functions.h"
#include "device.h"
#include "graph_builder.h"
#include "vgpu/workspaces/data_type.h"
#include "vgpu/workspaces/workspace_form.h"

using namespace torchmem::vgpu;

namespace {

bool is_random(const ConvolutionFact& fact) { return fact.engine >= 0; }

// Bytes of input, output and filters.
double tensor_bytes(const ConvolutionProblem& problem) {
  double input = problem.channels, output = problem.filters, filters = problem.channels / problem.groups;
  for (int i = 0; i < problem.dimensions; ++i) {
    input *= problem.input[i];
    output *= problem.output(i);
    filters *= problem.kernel[i];
  }
  return (problem.batch * (input + output) + filters * problem.filters) *
         static_cast<double>(data_type_bytes(problem.type));
}

ConvolutionProblem square(uint32_t batch, uint32_t channels, uint32_t filters, uint32_t size,
                          uint32_t kernel) {
  ConvolutionProblem problem;
  problem.batch = batch;
  problem.channels = channels;
  problem.filters = filters;
  for (int i = 0; i < 2; ++i) {
    problem.input[i] = size;
    problem.kernel[i] = kernel;
    problem.padding[i] = kernel / 2;
    problem.stride[i] = problem.dilation[i] = 1;
  }
  return problem;
}

struct Measured {
  int count = 0, equal = 0, near = 0;
  double error = 0, error_of_zero = 0;  // sums of parts of the tensors' bytes
  double milliseconds = 0;              // an estimate
};

// Estimates every `step`-th of the wanted facts from the usable ones.
Measured measure(bool (*wanted)(const ConvolutionFact&), bool (*usable)(const ConvolutionFact&), int step) {
  Facts facts;
  EXPECT_TRUE(facts.open(TORCHMEM_FACTS_INDEX));
  Measured all;
  int met = 0;
  auto start = std::chrono::steady_clock::now();
  for (const ConvolutionFact& fact : facts.convolutions()) {
    if (!wanted(fact) || met++ % step != 0) continue;
    WorkspaceSize size = estimate_convolution(facts, fact.problem, usable);
    EXPECT_EQ(size.knowledge, Knowledge::estimated);
    double off = std::abs(static_cast<double>(size.bytes) - static_cast<double>(fact.bytes));
    ++all.count;
    all.equal += size.bytes == fact.bytes;
    all.near += off <= 0.01 * static_cast<double>(fact.bytes) + 4096;
    all.error += off / tensor_bytes(fact.problem);
    all.error_of_zero += static_cast<double>(fact.bytes) / tensor_bytes(fact.problem);
  }
  auto taken = std::chrono::steady_clock::now() - start;
  all.milliseconds = std::chrono::duration<double, std::milli>(taken).count() / std::max(all.count, 1);
  std::printf("%d facts: equal %.1f %%, near %.1f %%, error %.3f (as zero %.3f), %.3f ms each\n", all.count,
              100.0 * all.equal / all.count, 100.0 * all.near / all.count, all.error / all.count,
              all.error_of_zero / all.count, all.milliseconds);
  return all;
}

}  // namespace

TEST(Estimate, OfRealModelsFromRandomProblems) {
  Measured all = measure([](const ConvolutionFact& fact) { return !is_random(fact); }, is_random, 100);
  EXPECT_GT(all.count, 1000);
  EXPECT_GT(all.equal, 0.53 * all.count);
  EXPECT_GT(all.near, 0.70 * all.count);
  EXPECT_LT(all.error, 0.30 * all.count);
  EXPECT_LT(all.error, 0.6 * all.error_of_zero);
  EXPECT_LT(all.milliseconds, 50);
}

TEST(Estimate, OfABatchFromOtherBatches) {
  Measured all =
      measure([](const ConvolutionFact& fact) { return !is_random(fact) && fact.problem.batch == 48; },
              [](const ConvolutionFact& fact) { return fact.problem.batch != 48; }, 2);
  EXPECT_GT(all.count, 1000);
  EXPECT_GT(all.equal, 0.82 * all.count);
  EXPECT_GT(all.near, 0.87 * all.count);
  EXPECT_LT(all.error, 0.13 * all.count);
  EXPECT_LT(all.error, 0.2 * all.error_of_zero);
}

TEST(Estimate, IsCountedAndRepeatable) {
  ConvolutionProblem problem = square(23, 96, 72, 57, 3);
  device::forget();
  uint64_t first = plan_workspace(make_plan(convolution_graph(problem)));
  EXPECT_EQ(plan_workspace(make_plan(convolution_graph(problem))), first);
  ASSERT_EQ(device::workspaces.size(), 2u);
  EXPECT_EQ(device::workspaces[0].how, 1);
  EXPECT_EQ(device::workspaces[0].bytes, first);
  EXPECT_EQ(device::workspaces[0].problem, "f32 nchw 23x96x57x57 -> 72 k3x3 p1x1");
}

TEST(Estimate, AClassWithoutFactsIsUnknown) {
  ConvolutionProblem problem = square(8, 16, 16, 32, 3);
  problem.type = 1;  // f64
  device::forget();
  EXPECT_EQ(plan_workspace(make_plan(convolution_graph(problem))), 0u);
  ASSERT_EQ(device::workspaces.size(), 1u);
  EXPECT_EQ(device::workspaces[0].how, 2);
}

TEST(WorkspaceForm, CopiesGrowWithTheirTensors) {
  ConvolutionProblem small = square(2, 3, 8, 10, 3), large = square(4, 3, 8, 10, 3);
  uint64_t input = 2 * 4 * 100 * 4, output = 2 * 8 * 100 * 4;  // 3 channels padded to 4
  WorkspaceForm form(small, input + output + 16);
  EXPECT_EQ(form.bytes_for(small), input + output + 16);
  EXPECT_EQ(form.bytes_for(large), 2 * (input + output) + 16);
}

TEST(WorkspaceForm, PartialSumsForEachOfTheBatch) {
  ConvolutionProblem small = square(8, 64, 32, 14, 1), large = square(16, 64, 32, 14, 1);
  small.type = large.type = 9;  // bf16
  WorkspaceForm form(small, 8 * 64 * 32 * 4);
  EXPECT_EQ(form.bytes_for(large), 16u * 64 * 32 * 4);
}

TEST(WorkspaceForm, WhatIsNotExplainedStays) {
  ConvolutionProblem small = square(2, 16, 16, 10, 3), large = square(4, 16, 16, 10, 3);
  EXPECT_EQ(WorkspaceForm(small, 0).bytes_for(large), 0u);
  EXPECT_EQ(WorkspaceForm(small, 999).bytes_for(large), 999u);
}
