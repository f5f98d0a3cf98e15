#include "engine/check.h"

#include <ATen/Context.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/archive.h"
#include "engine/device.h"
#include "engine/failure.h"
#include "engine/inputs.h"
#include "engine/ivalue_tensors.h"
#include "engine/loss.h"
#include "engine/model.h"
#include "engine/results.h"
#include "engine/torch_message.h"

namespace torchmem::engine {
namespace {

using c10::IValue;
using nlohmann::json;

constexpr std::int64_t small_batch = 2;  // batch normalisation refuses one value a channel
constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;
constexpr double tolerance = 1e-4;

// The largest first dimension of the tensors in a value.
std::int64_t batch_of(const json& value) {
  if (value.is_object() && value.contains("tensor")) {
    const auto& shape = value["tensor"].value("shape", json::array());
    return shape.empty() ? 0 : shape[0].get<std::int64_t>();
  }
  std::int64_t largest = 0;
  if (value.is_structured()) {
    for (const auto& item : value) largest = std::max(largest, batch_of(item));
  }
  return largest;
}

void cut(json& value, std::int64_t batch) {
  if (value.is_object() && value.contains("tensor")) {
    auto& tensor = value["tensor"];
    if (tensor.contains("shape") && !tensor["shape"].empty() && tensor["shape"][0] == batch)
      tensor["shape"][0] = std::min(batch, small_batch);
    tensor.erase("spec");
    return;
  }
  if (!value.is_structured()) return;
  for (auto& item : value) cut(item, batch);
}

RunRequest small(RunRequest request) {
  std::int64_t batch = 0;
  for (const auto& value : request.inputs.positional) batch = std::max(batch, batch_of(value));
  for (const auto& [name, value] : request.inputs.named) batch = std::max(batch, batch_of(value));
  for (auto& value : request.inputs.positional) cut(value, batch);
  for (auto& [name, value] : request.inputs.named) cut(value, batch);
  request.autocast.reset();
  request.dtype.reset();
  return request;
}

// What a run gave: the result's tensors, then the parameters' gradients.
std::vector<at::Tensor> run_once(const RunRequest& request, Model& model, const std::vector<IValue>& inputs) {
  at::Generator generator = at::globalContext().defaultGenerator(c10::Device(c10::kCPU));
  generator.set_current_seed(0);
  std::vector<IValue> own;
  for (const auto& input : inputs)
    own.push_back(map_tensors(input, [](const at::Tensor& tensor) { return tensor.clone(); }));
  const bool train = request.mode == Mode::train;
  model.set_training(train);
  const c10::AutoGradMode recording(request.mode != Mode::inference);
  const IValue result = model.run(std::move(own));
  std::vector<at::Tensor> tensors;
  for (const auto& entry : result_tensors(result)) tensors.push_back(entry.tensor.detach());
  if (!train) return tensors;
  at::Tensor loss = find_loss(request.loss).apply(pick_tensor(result, request.loss_on).tensor);
  loss.backward();
  for (const auto& parameter : model.parameters()) tensors.push_back(parameter.grad());
  return tensors;
}

// Relative to the largest element; infinite where one is missing or of another shape.
double difference(const at::Tensor& a, const at::Tensor& b) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (a.defined() != b.defined()) return infinite;
  if (!a.defined()) return 0;
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return infinite;
  if (a.numel() == 0 || a.equal(b)) return 0;
  const at::Tensor left = a.to(at::kDouble);
  const at::Tensor right = b.to(at::kDouble);
  const double size = left.abs().max().item().toDouble();
  const double apart = left.sub(right).abs().max().item().toDouble();
  return apart / (size > 0 ? size : 1.0);
}

std::string text_of(const std::exception& error) {
  if (const auto* torch = dynamic_cast<const c10::Error*>(&error))
    return parse_torch_message(torch->what_without_backtrace()).text;
  if (dynamic_cast<const Failure*>(&error) != nullptr) return error.what();
  return parse_torch_message(error.what()).text;
}

json not_made(const std::string& why) { return {{"made", false}, {"why", why}}; }

json check(const RunRequest& asked) {
  const ArchiveFacts archive = check_archive(asked.model);
  if (archive.file_bytes > largest_file)
    return not_made("the model's file is larger than 1 GiB, which would take long on the CPU");
  const RunRequest rewritten = small(asked);
  RunRequest plain = rewritten;
  plain.checkpoint.clear();
  plain.inplace = false;
  const c10::Device cpu(c10::kCPU);
  auto model = load_torchscript(plain, cpu, /*weightless=*/false);
  const InputBuilder builder(plain, plain.inputs, *model, cpu);
  std::vector<IValue> inputs;
  std::vector<at::Tensor> expected;
  try {
    inputs = builder.build();
    expected = run_once(plain, *model, inputs);
  } catch (const std::exception& error) {
    return not_made("the model as it is does not run on the CPU with a small input: " + text_of(error));
  }
  json result = {{"made", true}, {"equal", false}, {"inputs", builder.call()}};
  try {
    model = load_torchscript(rewritten, cpu, /*weightless=*/false);
    model->rewrite(rewritten);
    const auto given = run_once(rewritten, *model, inputs);
    double largest = given.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(given.size(), expected.size()); ++i)
      largest = std::max(largest, difference(expected[i], given[i]));
    result["tensors"] = expected.size();
    result["equal"] = largest <= tolerance;
    if (std::isfinite(largest)) result["largest_difference"] = largest;
  } catch (const Failure& failure) {
    if (failure.kind() == FailureKind::bad_usage) throw;  // the rewrite itself cannot be made
    result["why"] = text_of(failure);
  } catch (const std::exception& error) {
    result["why"] = text_of(error);
  }
  return result;
}

}  // namespace

void run_check(const RunRequest& request, capture::StreamWriter& writer) {
  load_libraries(request.libraries);
  writer.facts({{"check", check(request)}});
}

}  // namespace torchmem::engine
