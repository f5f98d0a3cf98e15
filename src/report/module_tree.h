// The part of a module tree that is worth a look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torchmem/breakdown.h"

namespace torchmem {

struct ShownModule {
  const ModuleUsage* module = nullptr;
  size_t depth = 0;
  std::string name;  // below the module that is shown above it: "0.conv1"; "" for the root
};

// The root, then at most `most` modules below it in the tree's order, depth first: the largest of them, the
// upper levels before the lower, none of less than a hundredth of the root's bytes. A module that has no
// bytes of its own and one child that has any is taken together with it ("transformer.h").
std::vector<ShownModule> modules_to_show(const ModuleUsage& root, size_t most);

// The last part of a type's name: "Bottleneck" of "__torch__.torchvision.models.resnet.Bottleneck".
std::string short_type(const std::string& type);

}  // namespace torchmem
