#include "cli/levers.h"

#include "cli/sizes.h"
#include "cli/spec.h"

namespace torchmem::cli {

using nlohmann::json;

namespace {

bool is_mode(const LeverContext& context, const char* mode) {
  return context.request.value("mode", "") == mode;
}

bool flag(const LeverContext& context, const char* name) { return context.request.value(name, false); }

bool is_set(const LeverContext& context, const char* name) {
  return context.request.contains(name) && !context.request[name].is_null();
}

const char* only_forward_with_gradients(const LeverContext& context) {
  if (is_mode(context, "train")) return "training needs the gradients";
  return is_mode(context, "inference") ? "no gradients are recorded as it is" : nullptr;
}

const char* only_inference(const LeverContext& context) {
  if (is_mode(context, "train")) return "training needs the gradients";
  return flag(context, "inference_mode") ? "it is done already" : nullptr;
}

const char* not_in_mixed_precision(const LeverContext& context) {
  if (is_set(context, "autocast")) return "the run is under autocast already";
  return is_set(context, "dtype") ? "the model is converted already" : nullptr;
}

const char* only_images(const LeverContext& context) {
  if (flag(context, "channels_last")) return "it is done already";
  for (const char* kind : {"positional", "named"}) {
    for (const json& value : context.request["inputs"].value(kind, json::array())) {
      if (value.contains("tensor") && value["tensor"].value("shape", json::array()).size() == 4)
        return nullptr;
    }
  }
  return "no input has four dimensions";
}

template <int parts>
const char* only_divisible(const LeverContext& context) {
  if (!is_mode(context, "train")) return "nothing is trained";
  if (context.request.value("accumulate", 1) > 1) return "micro-batches are used already";
  return context.batch >= parts && context.batch % parts == 0 ? nullptr : "the batch cannot be divided so";
}

template <int parts>
void accumulate(Job& job, const LeverContext& context) {
  set_batch(job.request["inputs"], context.batch / parts);
  job.request["accumulate"] = parts;
}

const char* only_other_form(const LeverContext& context, const char* form) {
  if (!is_mode(context, "train")) return "nothing is trained";
  std::string optimizer = context.request.value("optimizer", "");
  bool has_fused = optimizer != "rmsprop" && optimizer != "adagrad";
  if (std::string(form) == "fused" && !has_fused) return "the optimizer has no fused form";
  return context.request.value("optimizer_form", "") == form ? "it is done already" : nullptr;
}

const char* only_larger_optimizer(const LeverContext& context, const char* optimizer) {
  if (!is_mode(context, "train")) return "nothing is trained";
  std::string now = context.request.value("optimizer", "");
  if (now == optimizer) return "it is done already";
  return std::string(optimizer) == "momentum" && now == "sgd" ? "it would need more" : nullptr;
}

void set_optimizer(Job& job, const char* name) {
  job.request["optimizer"] = name;
  if (job.request["optimizer_form"] == "fused" &&
      (std::string(name) == "rmsprop" || std::string(name) == "adagrad"))
    job.request["optimizer_form"] = "foreach";
}

const char* only_changing_shapes(const LeverContext& context) {
  return sized_dimension(context.request).second > 0 ? nullptr : "every step has the same shapes (--sizes)";
}

const char* only_without_settings(const LeverContext& context) {
  return is_set(context, "alloc_conf") ? "allocator settings are given already" : nullptr;
}

}  // namespace

const std::vector<Lever>& lever_table() {
  static const std::vector<Lever> table = {
      {"no_grad", "recording", 0, "no backward can follow", "with torch.no_grad(): y = model(x)",
       only_forward_with_gradients, [](Job& job, const LeverContext&) { job.request["mode"] = "inference"; }},
      {"inference_mode", "recording", 0, "the results can never be part of a graph",
       "with torch.inference_mode(): y = model(x)", only_inference,
       [](Job& job, const LeverContext&) {
         job.request["mode"] = "inference";
         job.request["inference_mode"] = true;
       }},
      {"release_outputs", "outputs", 0, "none", "del outputs, loss   # before the next iteration",
       [](const LeverContext& context) -> const char* {
         return flag(context, "keep_outputs") ? nullptr : "nothing is kept as it is";
       },
       [](Job& job, const LeverContext&) { job.request["keep_outputs"] = false; }},
      {"set_to_none", "gradients", 0, "none", "optimizer.zero_grad(set_to_none=True)   # the default",
       [](const LeverContext& context) -> const char* {
         if (!is_mode(context, "train")) return "nothing is trained";
         return flag(context, "keep_grads") ? nullptr : "gradients are released as it is";
       },
       [](Job& job, const LeverContext&) { job.request["keep_grads"] = false; }},
      {"alloc=expandable_segments:True", "allocator", 1, "none in numbers; slower first steps",
       "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", only_without_settings,
       [](Job& job, const LeverContext&) { job.request["alloc_conf"] = "expandable_segments:True"; }},
      {"alloc=max_split_size_mb:128", "allocator", 1, "more calls of cudaMalloc",
       "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128", only_without_settings,
       [](Job& job, const LeverContext&) { job.request["alloc_conf"] = "max_split_size_mb:128"; }},
      {"empty_cache", "cache", 1, "cudaFree and cudaMalloc in every iteration: slower",
       "torch.cuda.empty_cache()   # after each iteration",
       [](const LeverContext& context) -> const char* {
         return flag(context, "empty_cache") ? "it is done already" : nullptr;
       },
       [](Job& job, const LeverContext&) { job.request["empty_cache"] = true; }},
      {"shapes=warm_up", "shapes", 2, "one more step, with the largest shapes, at the start",
       "model(largest_batch).sum().backward()   # once, before the loop", only_changing_shapes,
       [](Job& job, const LeverContext&) { warm_up_sizes(job.request); }},
      {"optimizer form: loop", "optimizer form", 1, "a slower optimizer step",
       "torch.optim.AdamW(..., foreach=False)",
       [](const LeverContext& context) { return only_other_form(context, "loop"); },
       [](Job& job, const LeverContext&) { job.request["optimizer_form"] = "loop"; }},
      {"optimizer form: foreach", "optimizer form", 1, "temporaries of all parameters at once",
       "torch.optim.AdamW(..., foreach=True)   # Python's default",
       [](const LeverContext& context) { return only_other_form(context, "foreach"); },
       [](Job& job, const LeverContext&) { job.request["optimizer_form"] = "foreach"; }},
      {"optimizer form: fused", "optimizer form", 1, "none", "torch.optim.AdamW(..., fused=True)",
       [](const LeverContext& context) { return only_other_form(context, "fused"); },
       [](Job& job, const LeverContext&) { job.request["optimizer_form"] = "fused"; }},
      {"inplace", "inplace", 2, "none in numbers",
       "nn.ReLU(inplace=True), nn.functional.silu(x, inplace=True)",
       [](const LeverContext& context) -> const char* {
         if (flag(context, "inplace")) return "it is done already";
         return context.has_activations ? nullptr : "the model has no activation that could be made in place";
       },
       [](Job& job, const LeverContext&) { job.request["inplace"] = true; }},
      {"channels_last", "layout", 2, "none in numbers beyond rounding",
       "model.to(memory_format=torch.channels_last); x likewise", only_images,
       [](Job& job, const LeverContext&) { job.request["channels_last"] = true; }},
      {"shapes=padded", "shapes", 3, "work on the padding; masks, where it must not count",
       "pad every batch to the longest there is", only_changing_shapes,
       [](Job& job, const LeverContext&) { pad_sizes(job.request); }},
      {"shapes=buckets", "shapes", 3, "work on the padding; masks, where it must not count",
       "pad every batch to the next power of two", only_changing_shapes,
       [](Job& job, const LeverContext&) { bucket_sizes(job.request); }},
      {"accumulate=2", "accumulate", 3, "two smaller passes a step; batch normalisation sees half a batch",
       "(loss / 2).backward()   # twice, then optimizer.step()", only_divisible<2>, accumulate<2>},
      {"accumulate=4", "accumulate", 3, "four smaller passes a step; batch normalisation sees a quarter",
       "(loss / 4).backward()   # four times, then optimizer.step()", only_divisible<4>, accumulate<4>},
      {"checkpoint=auto", "checkpoint", 3, "the forward of what is checkpointed runs twice",
       "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=True)",
       [](const LeverContext& context) -> const char* {
         if (!is_mode(context, "train")) return "nothing is trained";
         if (is_set(context, "checkpoint") && !context.request["checkpoint"].empty())
           return "it is done already";
         return context.blocks.empty() ? "the model has no class of module that it calls twice" : nullptr;
       },
       [](Job& job, const LeverContext&) { job.request["checkpoint"] = {"auto"}; }},
      {"autocast=bf16", "precision", 4, "8 bits of precision in products and convolutions",
       "with torch.autocast(\"cuda\", torch.bfloat16): y = model(x)", not_in_mixed_precision,
       [](Job& job, const LeverContext&) { job.request["autocast"] = "bf16"; }},
      {"autocast=f16", "precision", 4, "range of f16: training needs a gradient scaler",
       "with torch.autocast(\"cuda\", torch.float16): y = model(x)", not_in_mixed_precision,
       [](Job& job, const LeverContext&) { job.request["autocast"] = "f16"; }},
      {"dtype=bf16", "precision", 5, "weights, gradients and optimizer state in 8 bits of precision",
       "model.to(torch.bfloat16).cuda()", not_in_mixed_precision,
       [](Job& job, const LeverContext&) { job.request["dtype"] = "bf16"; }},
      {"optimizer=momentum", "optimizer", 5, "another optimizer: other results, a learning rate to find",
       "torch.optim.SGD(..., momentum=0.9)",
       [](const LeverContext& context) { return only_larger_optimizer(context, "momentum"); },
       [](Job& job, const LeverContext&) { set_optimizer(job, "momentum"); }},
      {"optimizer=sgd", "optimizer", 5, "another optimizer: other results, a learning rate to find",
       "torch.optim.SGD(...)",
       [](const LeverContext& context) { return only_larger_optimizer(context, "sgd"); },
       [](Job& job, const LeverContext&) { set_optimizer(job, "sgd"); }},
  };
  return table;
}

uint64_t batch_of(const json& inputs) {
  for (const char* kind : {"positional", "named"}) {
    for (const json& value : inputs.value(kind, json::array())) {
      if (!value.is_object() || !value.contains("tensor")) continue;
      const json shape = value["tensor"].value("shape", json::array());
      if (!shape.empty() && shape[0].is_number_integer() && shape[0] > 0) return shape[0].get<uint64_t>();
    }
  }
  return 0;
}

}  // namespace torchmem::cli
