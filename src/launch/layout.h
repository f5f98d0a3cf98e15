// Where the program's parts lie. The build tree and an installation have the same shape:
//
//     bin/torchmem  bin/torchmem-engine (or libexec/)
//     lib/torchmem/torch.json  lib/torchmem/libtorchmem_agent.so  lib/torchmem/libtorchmem_join.so
//     lib/torchmem/vgpu/*.so*  lib/torchmem/vgpu/preload.list
//     share/torchmem/profiles/*.json
//
// Every function throws Error(unavailable) naming what is missing and where it was looked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace torchmem {

// TORCHMEM_ENGINE, if set, takes the engine's place (for tests).
std::filesystem::path engine_path();
std::filesystem::path agent_path();
// What loads the agent into a program on a real GPU (on the virtual one the virtual GPU does).
std::filesystem::path join_path();
// What sees the workspaces of cuBLAS and cuDNN, preloaded before the libraries behind it.
std::filesystem::path workspace_hook_path();
// The version of torch that engine and agent were built against; "" where the record does not say.
std::string built_torch_version();
std::filesystem::path profiles_directory();
// The virtual GPU's libraries, absolute, in the order in which they must be preloaded.
std::vector<std::filesystem::path> virtual_gpu_libraries();

}  // namespace torchmem
