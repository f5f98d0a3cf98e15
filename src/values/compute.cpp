#include "values/compute.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <memory>

namespace torchmem::values {
namespace {

class NoWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

c10::impl::LocalDispatchKeySet plain_keys() {
  c10::impl::PODLocalDispatchKeySet none{};
  c10::impl::LocalDispatchKeySet keys(none);
  keys.included_ = c10::DispatchKeySet(c10::DispatchKey::BackendSelect);
  keys.excluded_ = c10::default_excluded_set | c10::autograd_dispatch_keyset |
                   c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView);
  return keys;
}

}  // namespace

struct Unseen::Guards {
  at::RecordFunctionGuard observers{false};
  c10::impl::ForceDispatchKeyGuard keys{plain_keys()};
  NoWarnings handler;
  c10::WarningUtils::WarningHandlerGuard warnings{&handler};
};

Unseen::Unseen() : guards_(std::make_unique<Guards>()) {}
Unseen::~Unseen() = default;

std::optional<torch::jit::Stack> compute(const Operator& op, torch::jit::Stack arguments,
                                         std::uint64_t seed) {
  try {
    if (op.generator) arguments.at(*op.generator) = at::detail::createCPUGenerator(seed);
    op.handle->callBoxed(&arguments);
    return arguments;
  } catch (const std::exception&) {
    return std::nullopt;  // the device has a kernel for what the CPU has none for
  }
}

}  // namespace torchmem::values
