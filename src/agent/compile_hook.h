#pragma once

namespace torchmem::agent {

// Leaves a note for the launcher (`compiles-<pid>` in TORCHMEM_RUN_DIR) once the program's Python compiles
// something with torch.compile's default compiler: what it makes for a device the virtual one cannot run.
// Does nothing in a program without Python. Needs no lock of Python's. Once a process.
void hook_compilation();

}  // namespace torchmem::agent
