#pragma once

namespace torchmem::agent {

/// Leaves a note for the launcher (`compiles-<pid>` in TORCHMEM_RUN_DIR) once the program's Python compiles
/// for the device with torch.compile's default compiler, which the virtual device does not support. Does
/// nothing in a program without Python. Needs no lock of Python's. Once a process.
void watch_for_compilation();

}  // namespace torchmem::agent
