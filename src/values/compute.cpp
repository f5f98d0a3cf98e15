#include "values/compute.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <memory>

#include "values/equivalents.h"

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

// One thread: what is computed is small, and to wait for others would take longer. Of OpenMP, whose setting
// is the calling thread's own.
class OneThread {
 public:
  OneThread() : before_(openmp().get == nullptr ? 1 : openmp().get()) {
    if (before_ != 1) openmp().set(1);
  }
  ~OneThread() {
    if (before_ != 1) openmp().set(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  struct OpenMp {
    int (*get)() = nullptr;
    void (*set)(int) = nullptr;
  };
  static const OpenMp& openmp() {
    static const OpenMp found = [] {
      OpenMp functions;
      void* library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);  // PyTorch's
      if (library == nullptr) return functions;
      functions.set = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
      functions.get = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
      return functions;
    }();
    return found;
  }

  int before_;
};

}  // namespace

struct Unseen::Guards {
  OneThread one_thread;
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
    if (has_equivalent(op.name) && !(op.handle->hasComputedKernelForDispatchKey(c10::DispatchKey::CPU) &&
                                     arguments[0].toTensor().is_floating_point()))
      call_equivalent(op.name, arguments);
    else
      op.handle->callBoxed(&arguments);
    return arguments;
  } catch (const std::exception&) {
    return std::nullopt;  // the device has a kernel for what the CPU has none for
  }
}

}  // namespace torchmem::values
