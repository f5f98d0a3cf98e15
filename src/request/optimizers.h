// Optimizers and losses: what there is, and in which forms.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace torchmem {

// "sgd, momentum, ...".
std::string optimizer_names();

// Whether PyTorch has that form of it on CUDA: "loop", "foreach" or "fused".
bool has_form(const std::string& optimizer, const std::string& form);

// "adamw:foreach" as name and form; no suffix is LibTorch's own loop, "loop". Throws Error(bad_usage) that
// starts with `what`.
std::pair<std::string, std::string> parse_optimizer(const std::string& text,
                                                    const std::string& what = "--optimizer");

const std::vector<std::string>& loss_names();

}  // namespace torchmem
