#pragma once

#include <torch/csrc/jit/frontend/source_range.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace torchmem::capture {

struct SourcePlace {
  std::string file;
  std::uint64_t line = 0;  // from 1
};

// Where code of a TorchScript archive was written: the user's own file, as the archive's debug records name
// it, or the archive's where it has none. Nothing where no file is known, or where the records cannot be
// read.
std::optional<SourcePlace> source_place(const torch::jit::SourceRange& range);

// Called with one sentence when debug records are first met that cannot be read. Without it, the sentence
// goes to stderr.
void on_damaged_lines(std::function<void(const std::string&)> tell);

}  // namespace torchmem::capture
