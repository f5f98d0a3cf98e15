#pragma once

#include <memory>
#include <string>

namespace torchmem::capture {

// For the code of a submodule that runs in an interpreter of its own, as a checkpointed one does: in the
// scope, the calling thread's module paths are within `path`, and operators are not part of what was open
// around it.
class ModuleScope {
 public:
  // `path` and `type` of the submodule: "layer1.0", "Bottleneck".
  ModuleScope(std::string path, std::string type);
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

  // `inner`: a path within the submodule as module_path gives it, "conv1 (Conv2d)"; "" is the submodule
  // itself.
  std::string whole(const std::string& inner) const;

 private:
  struct Around;
  std::string path_;
  std::string type_;
  std::unique_ptr<Around> around_;
};

}  // namespace torchmem::capture
