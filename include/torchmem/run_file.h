// Run files: a PyTorch memory snapshot (the pickle of torch.cuda.memory._dump_snapshot) with our own info
// under one extra key, "torchmem". A snapshot that anyone's program dumped is read by the same reader.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "torchmem/run.h"

namespace torchmem {

// Reads a snapshot or run file of pickle protocol 2 to 5. Never acts on what a pickle asks to call or build.
// Throws Error(bad_input) when it is not a memory snapshot, or damaged, or of a newer torchmem's making.
Run read_run_file(const std::filesystem::path& path);
Run read_run(std::string_view pickle, const std::string& name);

// The bytes of a run file (pickle protocol 2, only opcodes that memory_viz reads).
std::string write_run(const Run& run);

}  // namespace torchmem
