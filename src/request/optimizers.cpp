#include "request/optimizers.h"

#include <algorithm>

#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

// An optimizer with the forms that PyTorch has of it on CUDA.
struct Optimizer {
  const char* name;
  bool has_fused;
};

constexpr Optimizer optimizers[] = {{"sgd", true},   {"momentum", true}, {"adam", true},
                                    {"adamw", true}, {"rmsprop", false}, {"adagrad", false}};

}  // namespace

std::string optimizer_names() {
  std::vector<std::string> names;
  for (const Optimizer& optimizer : optimizers) names.emplace_back(optimizer.name);
  return joined(names);
}

bool has_form(const std::string& optimizer, const std::string& form) {
  return form != "fused" ||
         std::any_of(std::begin(optimizers), std::end(optimizers),
                     [&](const Optimizer& one) { return optimizer == one.name && one.has_fused; });
}

std::pair<std::string, std::string> parse_optimizer(const std::string& text, const std::string& what) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  std::string form = colon == std::string::npos ? "loop" : text.substr(colon + 1);
  for (const Optimizer& optimizer : optimizers) {
    if (name != optimizer.name) continue;
    if (form == "fused" && !optimizer.has_fused) {
      throw Error(ErrorKind::bad_usage, what + " " + text + ": PyTorch has no fused form of " + name +
                                            " on CUDA. Expected " + name + " or " + name + ":foreach.");
    }
    if (form == "foreach" || form == "fused" || (form == "loop" && colon == std::string::npos))
      return {name, form};
    throw Error(ErrorKind::bad_usage, what + " " + text + ": unknown form '" + form +
                                          "'. Expected foreach, fused, or no ':' for LibTorch's own loop.");
  }
  throw Error(ErrorKind::bad_usage, what + " " + text + ": unknown optimizer. Expected one of " +
                                        optimizer_names() + ", with :foreach or :fused.");
}

const std::vector<std::string>& loss_names() {
  static const std::vector<std::string> losses = {"sum", "mean", "mse", "cross_entropy"};
  return losses;
}

}  // namespace torchmem
