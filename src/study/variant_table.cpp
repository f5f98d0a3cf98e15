// Every variant, and of which of them what is advised.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "request/alloc_conf.h"
#include "request/optimizers.h"
#include "request/sizes.h"
#include "request/spec.h"
#include "study/refuse.h"
#include "study/variants.h"
#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

using Context = LeverContext;
using Text = std::string;

uint64_t whole_number(const std::string& text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 || number > INT32_MAX)
    refuse(fmt::format("'{}' is not a whole number from 1 to {}", text, INT32_MAX));
  return number;
}

std::string one_of(const std::string& text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) != names.end()) return text;
  refuse(fmt::format("'{}' is none of {}", text, joined(names)));
}

void set_mode(Job& job, Mode mode, bool inference_mode = false) {
  job.request.mode = mode;
  job.request.inference_mode = inference_mode;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    if (end == start) refuse(fmt::format("a module's name is missing in '{}'", text));
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

// Without a form the run keeps its own, where PyTorch has that of the optimizer.
void set_optimizer(Job& job, const std::string& value) {
  auto [name, form] = parse_optimizer(value);
  job.request.mode = Mode::train;
  job.request.optimizer = name;
  if (value.find(':') == std::string::npos) {
    if (!has_form(name, job.request.optimizer_form)) job.request.optimizer_form = "foreach";
  } else {
    job.request.optimizer_form = form;
  }
}

void set_form(Job& job, const std::string& value) {
  job.request.optimizer_form = one_of(value, {"loop", "foreach", "fused"});
  if (!has_form(job.request.optimizer, value))
    refuse(fmt::format("PyTorch has no fused form of {} on CUDA", job.request.optimizer));
}

void divide_batch(Job& job, const std::string& value) {
  const uint64_t parts = whole_number(value);
  const uint64_t batch = batch_of(job.request.inputs);
  if (batch == 0 || batch % parts != 0)
    refuse(fmt::format("a batch of {} cannot be divided into {} equal parts", batch, value));
  set_batch(job.request.inputs, batch / parts);
  job.request.accumulate = static_cast<int>(parts);
}

void set_shapes(Job& job, const std::string& value) {
  if (!job.request.sizes) refuse("no shape changes: it needs --sizes NAME=N,N,...");
  one_of(value, {"padded", "buckets", "warm_up"});
  if (value == "padded") pad_sizes(job.request);
  if (value == "buckets") bucket_sizes(job.request);
  if (value == "warm_up") warm_up_sizes(job.request);
}

void set_device(Job& job, const std::string& value) {
  bool is_whole =
      value.find(':') != std::string::npos || value == "auto" || value == "cuda" || value == "virtual";
  job.device = choose_device(is_whole ? value : "virtual:" + value);
}

template <bool RunRequest::*member, bool value = true>
void set_flag(Job& job, const std::string&) {
  job.request.*member = value;
}

bool trains(const Context& context) { return context.request.mode == Mode::train; }

template <bool RunRequest::*member>
const char* unless_done(const Context& context) {
  return context.request.*member ? "the run does it already" : nullptr;
}

const char* only_forward_with_gradients(const Context& context) {
  if (trains(context)) return "training needs the gradients";
  return context.request.mode == Mode::inference ? "no gradients are recorded anyway" : nullptr;
}

const char* only_inference(const Context& context) {
  if (trains(context)) return "training needs the gradients";
  return context.request.inference_mode ? "the run does it already" : nullptr;
}

const char* only_kept_outputs(const Context& context) {
  return context.request.keep_outputs ? nullptr : "nothing is kept anyway";
}

const char* only_kept_grads(const Context& context) {
  if (!trains(context)) return "nothing is trained";
  return context.request.keep_grads ? nullptr : "gradients are released anyway";
}

const char* not_in_mixed_precision(const Context& context) {
  if (context.request.autocast) return "the run is under autocast already";
  return context.request.dtype ? "the model is converted already" : nullptr;
}

const char* only_activations(const Context& context) {
  if (context.request.inplace) return "the run does it already";
  return context.has_activations ? nullptr : "the model has no activation that could be made in place";
}

const char* only_images(const Context& context) {
  auto is_image = [](const nlohmann::json& value) {
    return value.contains("tensor") && value["tensor"].at("shape").size() == 4;
  };
  const Arguments& inputs = context.request.inputs;
  if (context.request.channels_last) return "the run does it already";
  bool has_image = std::any_of(inputs.positional.begin(), inputs.positional.end(), is_image) ||
                   std::any_of(inputs.named.begin(), inputs.named.end(),
                               [&](const auto& input) { return is_image(input.second); });
  return has_image ? nullptr : "no input has four dimensions";
}

template <int parts>
const char* only_divisible(const Context& context) {
  if (!trains(context)) return "nothing is trained";
  if (context.request.accumulate > 1) return "micro-batches are used already";
  const uint64_t batch = batch_of(context.request.inputs);
  return batch >= parts && batch % parts == 0 ? nullptr : "the batch cannot be divided evenly";
}

const char* only_blocks(const Context& context) {
  if (!trains(context)) return "nothing is trained";
  if (!context.request.checkpoint.empty()) return "the run does it already";
  return context.blocks.empty() ? "the model has no class of module that it calls twice" : nullptr;
}

const char* only_other_form(const Context& context, const char* form) {
  if (!trains(context)) return "nothing is trained";
  if (!has_form(context.request.optimizer, form)) return "the optimizer has no fused form";
  return context.request.optimizer_form == form ? "the run does it already" : nullptr;
}

const char* only_larger_optimizer(const Context& context, const std::string& optimizer) {
  if (!trains(context)) return "nothing is trained";
  if (context.request.optimizer == optimizer) return "the run does it already";
  return optimizer == "momentum" && context.request.optimizer == "sgd" ? "it would need more" : nullptr;
}

const char* only_changing_shapes(const Context& context) {
  return context.request.sizes ? nullptr : "every step has the same shapes (--sizes)";
}

const char* only_without_settings(const Context& context) {
  return context.request.alloc_conf ? "allocator settings are given already" : nullptr;
}

constexpr const char* other_optimizer = "another optimizer: other results, a learning rate to find";
constexpr const char* padding = "work on the padding; masks, where it must not count";

std::vector<Variant> modes() {
  return {
      {"base", "", "what the options say, unchanged", [](Job&, const Text&) {}},
      {"no_grad",
       "",
       "forward alone under torch.no_grad()",
       [](Job& job, const Text&) { set_mode(job, Mode::inference); },
       {{"", "recording", 0, "no backward can follow", "with torch.no_grad(): y = model(x)",
         only_forward_with_gradients}}},
      {"inference_mode",
       "",
       "forward alone under torch.inference_mode()",
       [](Job& job, const Text&) { set_mode(job, Mode::inference, true); },
       {{"", "recording", 0, "the results can never be part of a graph",
         "with torch.inference_mode(): y = model(x)", only_inference}}},
      {"grad", "", "forward alone, with what backward would need",
       [](Job& job, const Text&) { set_mode(job, Mode::grad_forward); }},
      {"train", "", "forward, loss, backward, optimizer",
       [](Job& job, const Text&) { set_mode(job, Mode::train); }},
  };
}

std::vector<Variant> precision_and_layout() {
  using R = RunRequest;
  return {
      {"autocast",
       "bf16|f16",
       "mixed precision",
       [](Job& job, const Text& value) {
         job.request.autocast = one_of(value, {"bf16", "f16"});
       },
       {{"bf16", "precision", 4, "8 bits of precision in products and convolutions",
         "with torch.autocast(\"cuda\", torch.bfloat16): y = model(x)", not_in_mixed_precision},
        {"f16", "precision", 4, "range of f16: training needs a gradient scaler",
         "with torch.autocast(\"cuda\", torch.float16): y = model(x)", not_in_mixed_precision}}},
      {"dtype",
       "bf16|f16|f32",
       "weights and floating inputs of that type",
       [](Job& job, const Text& value) {
         job.request.dtype = one_of(value, {"bf16", "f16", "f32"});
       },
       {{"bf16", "precision", 5, "weights, gradients and optimizer state in 8 bits of precision",
         "model.to(torch.bfloat16).cuda()", not_in_mixed_precision}}},
      {"channels_last",
       "",
       "weights and inputs in channels-last layout",
       set_flag<&R::channels_last>,
       {{"", "layout", 2, "none in numbers beyond rounding",
         "model.to(memory_format=torch.channels_last); x likewise", only_images}}},
  };
}

std::vector<Variant> what_is_kept() {
  using R = RunRequest;
  return {
      {"checkpoint",
       "MODULE,...|auto",
       "activations of these modules are computed again in backward",
       [](Job& job, const Text& value) { job.request.checkpoint = split(value); },
       {{"auto", "checkpoint", 3, "the forward of what is checkpointed runs twice",
         "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=True)", only_blocks}}},
      {"inplace",
       "",
       "activation functions in place, where nobody else sees it",
       set_flag<&R::inplace>,
       {{"", "inplace", 2, "none in numbers", "nn.ReLU(inplace=True), nn.functional.silu(x, inplace=True)",
         only_activations}}},
      {"empty_cache",
       "",
       "the cache emptied after each iteration",
       set_flag<&R::empty_cache>,
       {{"", "cache", 1, "cudaFree and cudaMalloc in every iteration: slower",
         "torch.cuda.empty_cache()   # after each iteration", unless_done<&R::empty_cache>}}},
      {"keep_outputs", "", "results and losses kept until the next ones are there",
       set_flag<&R::keep_outputs>},
      {"release_outputs",
       "",
       "results and losses released before the next iteration",
       set_flag<&R::keep_outputs, false>,
       {{"", "outputs", 0, "none", "del outputs, loss   # before the next iteration", only_kept_outputs}}},
      {"keep_grads", "", "gradients set to zero rather than released", set_flag<&R::keep_grads>},
      {"set_to_none",
       "",
       "gradients released rather than set to zero",
       set_flag<&R::keep_grads, false>,
       {{"", "gradients", 0, "none", "optimizer.zero_grad(set_to_none=True)   # the default",
         only_kept_grads}}},
  };
}

std::vector<Variant> training() {
  return {
      {"accumulate", "N", "N micro-batches of the inputs' size, for one optimizer step",
       [](Job& job, const Text& value) { job.request.accumulate = static_cast<int>(whole_number(value)); }},
      {"micro_batches",
       "N",
       "the inputs in N equal parts, for one optimizer step",
       divide_batch,
       {{"2", "micro-batches", 3, "two smaller passes a step; batch normalisation sees half a batch",
         "(loss / 2).backward()   # twice, then optimizer.step()", only_divisible<2>},
        {"4", "micro-batches", 3, "four smaller passes a step; batch normalisation sees a quarter",
         "(loss / 4).backward()   # four times, then optimizer.step()", only_divisible<4>}}},
      {"optimizer",
       "NAME[:foreach|:fused]",
       "training with that optimizer",
       set_optimizer,
       {{"momentum", "optimizer", 5, other_optimizer, "torch.optim.SGD(..., momentum=0.9)",
         [](const Context& context) { return only_larger_optimizer(context, "momentum"); }},
        {"sgd", "optimizer", 5, other_optimizer, "torch.optim.SGD(...)",
         [](const Context& context) { return only_larger_optimizer(context, "sgd"); }}}},
      {"optimizer_form",
       "loop|foreach|fused",
       "the same optimizer in that form",
       set_form,
       {{"loop", "optimizer form", 1, "a slower optimizer step", "torch.optim.AdamW(..., foreach=False)",
         [](const Context& context) { return only_other_form(context, "loop"); }},
        {"foreach", "optimizer form", 1, "temporaries of all parameters at once",
         "torch.optim.AdamW(..., foreach=True)   # Python's default",
         [](const Context& context) { return only_other_form(context, "foreach"); }},
        {"fused", "optimizer form", 1, "none", "torch.optim.AdamW(..., fused=True)",
         [](const Context& context) { return only_other_form(context, "fused"); }}}},
  };
}

std::vector<Variant> surroundings() {
  return {
      {"jit", "on|off", "TorchScript's optimizer and fusers",
       [](Job& job, const Text& value) {
         job.request.jit = one_of(value, {"on", "off"}) == "on";
       }},
      {"alloc",
       "CONF",
       "allocator settings, as in PYTORCH_CUDA_ALLOC_CONF",
       [](Job& job, const Text& value) {
         check_alloc_conf(value, "allocator settings");
         job.request.alloc_conf = value;
       },
       {{"expandable_segments:True", "allocator", 1, "none in numbers; slower first steps",
         "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", only_without_settings},
        {"max_split_size_mb:128", "allocator", 1, "more calls of cudaMalloc",
         "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128", only_without_settings}}},
      {"batch", "N", "the dimension B of the inputs, else their first one",
       [](Job& job, const Text& value) { set_batch(job.request.inputs, whole_number(value)); }},
      {"shapes",
       "padded|buckets|warm_up",
       "what is done about shapes that change (--sizes)",
       set_shapes,
       {{"warm_up", "shapes", 2, "one more step, with the largest shapes, at the start",
         "model(largest_batch).sum().backward()   # once, before the loop", only_changing_shapes},
        {"padded", "shapes", 3, padding, "pad every batch to the longest there is", only_changing_shapes},
        {"buckets", "shapes", 3, padding, "pad every batch to the next power of two", only_changing_shapes}}},
      {"device", "NAME", "a profile's name, or as --device has it", set_device},
  };
}

}  // namespace

const std::vector<Variant>& variant_table() {
  static const std::vector<Variant> table = [] {
    std::vector<Variant> variants;
    for (auto group : {modes, precision_and_layout, what_is_kept, training, surroundings}) {
      for (Variant& variant : group()) variants.push_back(std::move(variant));
    }
    return variants;
  }();
  return table;
}

}  // namespace torchmem
