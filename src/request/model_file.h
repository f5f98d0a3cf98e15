// Looks at a model file before the engine is started: what is plainly no TorchScript archive is said at once,
// in the words of what it is.
#pragma once

#include <filesystem>

namespace torchmem {

enum class FileKind { torchscript, pickle };

// What a file that `inspect` is given holds: a TorchScript archive, or a pickle (a run file or a memory
// snapshot). Throws Error(bad_model) for anything else.
FileKind kind_of_file(const std::filesystem::path& path);

// Throws Error(bad_model) unless `path` is a TorchScript archive of a version that this build can read.
void check_model_file(const std::filesystem::path& path);

}  // namespace torchmem
