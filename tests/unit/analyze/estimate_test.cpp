#include "torchmem/estimate.h"

#include <gtest/gtest.h>

#include "torchmem/error.h"

namespace torchmem {
namespace {

uint64_t parse(const char* text) { return parse_parameters(text, "--params"); }

EstimateRow row(uint64_t parameters, const EstimateOptions& options, size_t stage = 0) {
  return make_estimate("", {{"f32", parameters, parameters}}, 0, options).rows.at(stage);
}

TEST(Estimate, ReadsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(parse("7B"), 7'000'000'000u);
  EXPECT_EQ(parse("1.3b"), 1'300'000'000u);
  EXPECT_EQ(parse("350M"), 350'000'000u);
  EXPECT_EQ(parse("1e8"), 100'000'000u);
  EXPECT_EQ(parse("1.5e3"), 1500u);
  EXPECT_EQ(parse("124439808"), 124'439'808u);
  EXPECT_EQ(parse("0.1K"), 100u);
  for (const char* text :
       {"", "B", "7X", "-1", "0", "1.5", "1e", "1e-3", "1e99", "1.0001K", "1..2B", "99999999999999999999"})
    EXPECT_THROW(parse(text), Error) << text;
}

// The tutorial's table: 0.4, 0.4, 0.8 GB for 1e8 parameters with Adam, and ten times as much for ten times as
// many.
TEST(Estimate, TheTutorialsTable) {
  for (uint64_t parameters : {100'000'000ull, 1'000'000'000ull, 10'000'000'000ull}) {
    EstimateOptions options;
    options.optimizer = "adam";
    EstimateRow adam = row(parameters, options);
    EXPECT_EQ(adam.weights, 4 * parameters);
    EXPECT_EQ(adam.gradients, 4 * parameters);
    EXPECT_EQ(adam.optimizer_state, 8 * parameters);
    EXPECT_EQ(adam.total, 16 * parameters);
  }
}

TEST(Estimate, OptimizersHaveTheirState) {
  for (auto [name, tensors] : {std::pair{"sgd", 0u},
                               {"momentum", 1u},
                               {"adam", 2u},
                               {"adamw", 2u},
                               {"rmsprop", 1u},
                               {"adagrad", 1u}}) {
    EstimateOptions options;
    options.optimizer = name;
    EXPECT_EQ(row(10, options).optimizer_state, 40 * tensors) << name;
  }
  EstimateOptions unknown;
  unknown.optimizer = "lion";
  EXPECT_THROW(row(10, unknown), Error);
}

TEST(Estimate, MixedPrecisionIsSixteenBytesAParameter) {
  EstimateOptions options;
  options.dtype = "bf16";
  options.master = true;
  EstimateRow mixed = row(1000, options);
  EXPECT_EQ(mixed.weights, 2000u);
  EXPECT_EQ(mixed.gradients, 2000u);
  EXPECT_EQ(mixed.master_weights, 4000u);
  EXPECT_EQ(mixed.optimizer_state, 8000u);
  EXPECT_EQ(mixed.total, 16'000u);
  options.dtype = "f32";
  EXPECT_EQ(row(1000, options).master_weights, 0u);
  options.training = false;
  EXPECT_EQ(row(1000, options).total, 4000u);
}

// ZeRO's own example: 7.5 B parameters, 64 devices, 120, 31.4, 16.6 and 1.9 GB.
TEST(Estimate, ZeroStages) {
  EstimateOptions options;
  options.dtype = "f16";
  options.master = true;
  options.shards = 64;
  uint64_t parameters = 7'500'000'000;
  EXPECT_EQ(row(parameters, options, 0).total, 120'000'000'000u);
  EXPECT_EQ(row(parameters, options, 1).total, 31'406'250'000u);
  EXPECT_EQ(row(parameters, options, 2).total, 16'640'625'000u);
  EXPECT_EQ(row(parameters, options, 3).total, 1'875'000'000u);
  // A rest is rounded up.
  options.shards = 3;
  EXPECT_EQ(row(1, options, 3).weights, 1u);
}

TEST(Estimate, OfAModel) {
  nlohmann::json model = {{"parameter_tensors",
                           {{{"dtype", "f32"}, {"shape", {2, 3}}, {"requires_grad", true}},
                            {{"dtype", "f16"}, {"shape", {4}}, {"requires_grad", false}},
                            {{"dtype", "f32"}, {"shape", nlohmann::json::array()}}}}};
  std::vector<ParameterCount> counts = parameters_of(model);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].elements, 7u);
  EXPECT_EQ(counts[0].trained, 7u);
  EXPECT_EQ(counts[1].trained, 0u);
  EstimateRow all = make_estimate("m", counts, 100, {}).rows[0];
  EXPECT_EQ(all.weights, 28u + 8);
  EXPECT_EQ(all.gradients, 28u);
  EXPECT_EQ(all.optimizer_state, 56u);
  EXPECT_EQ(all.total, 36u + 28 + 56 + 100);
}

TEST(Estimate, TooManyAreRefused) { EXPECT_THROW(row(UINT64_MAX / 2, {}), Error); }

}  // namespace
}  // namespace torchmem
