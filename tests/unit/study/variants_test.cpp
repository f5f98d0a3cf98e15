#include "study/variants.h"

#include <gtest/gtest.h>

#include "request/spec.h"
#include "torchmem/error.h"

namespace torchmem {
namespace {

using nlohmann::json;

Job job_with(const std::vector<std::string>& inputs) {
  Job job;
  job.request.inputs = parse_inputs(inputs, Dimensions::numbers_and_names);
  return job;
}

json shape(const json& value) { return value["tensor"]["shape"]; }

std::string refusal(const std::string& variant) {
  Job job = job_with({"f32:Bx3"});
  try {
    apply_variant(job, variant);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_usage);
    return error.what();
  }
  return "";
}

TEST(Variants, ChangeTheRequest) {
  Job job = job_with({"f32:Bx3", "ids=i64:BxS:below=7"});
  apply_variant(job, "train+autocast=bf16+batch=8+alloc=expandable_segments:True,max_split_size_mb:20");
  EXPECT_EQ(job.name, "train+autocast=bf16+batch=8+alloc=expandable_segments:True,max_split_size_mb:20");
  EXPECT_EQ(job.request.mode, Mode::train);
  EXPECT_EQ(job.request.autocast, "bf16");
  EXPECT_EQ(job.request.alloc_conf, "expandable_segments:True,max_split_size_mb:20");
  EXPECT_EQ(shape(job.request.inputs.positional[0]), json::parse("[8, 3]"));
  EXPECT_EQ(shape(job.request.inputs.named["ids"]), json::parse(R"([8, "S"])"));
}

TEST(Variants, EveryNameDoesWhatItSays) {
  struct Case {
    const char* variant;
    const char* field;
    json value;
  };
  const Case cases[] = {
      {"no_grad", "mode", "inference"},
      {"no_grad", "inference_mode", false},
      {"inference_mode", "mode", "inference"},
      {"inference_mode", "inference_mode", true},
      {"grad", "mode", "grad-forward"},
      {"train", "mode", "train"},
      {"autocast=f16", "autocast", "f16"},
      {"dtype=bf16", "dtype", "bf16"},
      {"channels_last", "channels_last", true},
      {"checkpoint=layer1,layer2.0", "checkpoint", {"layer1", "layer2.0"}},
      {"checkpoint=auto", "checkpoint", {"auto"}},
      {"accumulate=4", "accumulate", 4},
      {"optimizer=adam:fused", "optimizer_form", "fused"},
      {"optimizer=sgd", "optimizer", "sgd"},
      {"jit=on", "jit", true},
      {"jit=off", "jit", false},
      {"alloc=max_split_size_mb:20", "alloc_conf", "max_split_size_mb:20"},
  };
  for (const Case& test : cases) {
    Job job = job_with({"f32:2x3"});
    apply_variant(job, test.variant);
    EXPECT_EQ(arguments_of(job.request)[test.field], test.value) << test.variant;
  }
}

TEST(Variants, AnOptimizerKeepsTheFormWhereItHasIt) {
  Job job = job_with({"f32:2x3"});
  job.request.optimizer_form = "fused";
  apply_variant(job, "optimizer=sgd");
  EXPECT_EQ(job.request.optimizer_form, "fused");
  apply_variant(job, "optimizer=rmsprop");
  EXPECT_EQ(job.request.optimizer_form, "foreach");
  EXPECT_NE(refusal("optimizer=adagrad+optimizer_form=fused").find("no fused form of adagrad"),
            std::string::npos);
}

TEST(Variants, MicroBatchesDivideTheInputs) {
  Job job = job_with({"f32:8x3", "ids=i64:8x5:below=7"});
  apply_variant(job, "micro_batches=4");
  EXPECT_EQ(job.request.accumulate, 4);
  EXPECT_EQ(shape(job.request.inputs.positional[0]), json::parse("[2, 3]"));
  EXPECT_EQ(shape(job.request.inputs.named["ids"]), json::parse("[2, 5]"));
  apply_variant(job, "accumulate=3");
  EXPECT_EQ(shape(job.request.inputs.positional[0]), json::parse("[2, 3]"));
  EXPECT_NE(refusal("micro_batches=3").find("cannot be divided"), std::string::npos);
}

// What advise prints is what compare takes, alone and together.
TEST(Levers, AreVariants) {
  EXPECT_GT(lever_table().size(), 20u);
  for (const Lever& lever : lever_table()) {
    Job job = job_with({"f32:8x3x4x4"});
    job.request.sizes = Sizes{"S", {3, 5}};
    job.request.keep_outputs = job.request.keep_grads = true;
    job.request.optimizer_form = lever.name == "optimizer_form=loop" ? "fused" : "loop";
    const json before = arguments_of(job.request);
    apply_variant(job, lever.name);
    EXPECT_NE(arguments_of(job.request), before) << lever.name;
    EXPECT_EQ(job.name, lever.name);
  }
  Job job = job_with({"f32:8x3"});
  apply_variant(job, "autocast=bf16 + micro_batches=2");
  EXPECT_EQ(job.request.autocast, "bf16");
  EXPECT_EQ(job.request.accumulate, 2);
}

TEST(Variants, MistakesNameThePart) {
  EXPECT_EQ(refusal("autocast=f64"), "--variant autocast=f64: 'f64' is none of bf16, f16");
  EXPECT_EQ(refusal("accumulate=0"),
            "--variant accumulate=0: '0' is not a whole number from 1 to 2147483647");
  EXPECT_EQ(refusal("batch=1.5"), "--variant batch=1.5: '1.5' is not a whole number from 1 to 2147483647");
  EXPECT_EQ(refusal("autocast"), "--variant autocast: 'autocast' needs a value, autocast=bf16|f16");
  EXPECT_EQ(refusal("no_grad=1"), "--variant no_grad=1: 'no_grad' takes no value");
  EXPECT_EQ(refusal("train+"), "--variant train+: there is nothing to change");
  EXPECT_EQ(refusal("batch=1+batch=2"), "--variant batch=1+batch=2: 'batch' is given twice");
  EXPECT_EQ(refusal("checkpoint=a,,b"), "--variant checkpoint=a,,b: a module's name is missing in 'a,,b'");
  EXPECT_TRUE(
      refusal("nograd").starts_with("--variant nograd: there is no 'nograd'. Variants: base, no_grad, "));
  EXPECT_NE(refusal("alloc=max_split_size_mb:1").find("at least 20"), std::string::npos);
}

TEST(Dimensions, AreNamesOnlyWhereSizesVary) {
  EXPECT_THROW(parse_spec("f32:Bx3"), Error);
  for (const char* text : {"f32:bx3", "f32:B-x3", "f32:2Bx3", "f32:xB"})
    EXPECT_THROW(parse_spec(text, Dimensions::numbers_and_names), Error) << text;
  Arguments inputs = parse_inputs({"f32:BxB1x4", "k=f16:SxB:ones"}, Dimensions::numbers_and_names);
  EXPECT_EQ(unsized_dimensions(inputs), (std::vector<std::string>{"B", "B1", "S"}));
  EXPECT_EQ(set_dimension(inputs, "B", 32), 2u);
  EXPECT_EQ(set_dimension(inputs, "T", 32), 0u);
  EXPECT_EQ(unsized_dimensions(inputs), (std::vector<std::string>{"B1", "S"}));
  set_dimension(inputs, "B1", 5);
  EXPECT_EQ(inputs.positional[0], parse_spec("f32:32x5x4").value);
  set_dimension(inputs, "S", 7);
  json named = parse_spec("k=f16:7x32:ones").value;
  EXPECT_EQ(inputs.named["k"], named);
}

TEST(Dimensions, ATensorThatIsTooLargeIsRefused) {
  Arguments inputs = parse_inputs({"f32:Bx1000000000"}, Dimensions::numbers_and_names);
  EXPECT_THROW(set_dimension(inputs, "B", 10'000'000'000), Error);
}

TEST(Dimensions, BatchIsTheFirstDimensionWhereNoneIsNamed) {
  Arguments inputs = parse_inputs({"f32:4x3", "f32:4", "f32:3x4", "f32:scalar"});
  set_batch(inputs, 9);
  EXPECT_EQ(shape(inputs.positional[0]), json::parse("[9, 3]"));
  EXPECT_EQ(shape(inputs.positional[1]), json::parse("[9]"));
  EXPECT_EQ(shape(inputs.positional[2]), json::parse("[3, 4]"));
  Arguments scalar = parse_inputs({"f32:scalar"});
  EXPECT_THROW(set_batch(scalar, 2), Error);
}

}  // namespace
}  // namespace torchmem
