#include "engine/tensor_file.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "engine/failure.h"

namespace torchmem::engine {

at::Tensor load_tensor_file(const std::string& path, c10::Device device, const std::string& place,
                            const std::string& signature) {
  const auto refuse = [&](const std::string& problem) -> Failure {
    nlohmann::json detail = nlohmann::json::object();
    if (!signature.empty()) detail["signature"] = signature;
    return Failure(FailureKind::bad_input, place + " cannot be read from " + path + ": " + problem, detail);
  };
  std::ifstream in(path, std::ios::binary);
  if (!in) throw refuse(std::string(std::strerror(errno)) + ".");
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  c10::IValue value;
  try {
    value = torch::jit::pickle_load(bytes);
  } catch (const std::exception&) {  // what the unpickler says is of no use to the person
    throw refuse("it is not a tensor that torch.save wrote.");
  }
  if (!value.isTensor()) throw refuse("it holds " + value.tagKind() + ", not a tensor.");
  return value.toTensor().to(device);
}

}  // namespace torchmem::engine
