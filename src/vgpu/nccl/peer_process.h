#pragma once

#include <sys/types.h>

#include <cstdint>

namespace torchmem::vgpu::nccl {

// When the process started, in the kernel's ticks; 0 when there is none, or it ended and was not waited for.
uint64_t process_start(pid_t process);

// One line on standard error, "torchmem: " in front, in one piece.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace torchmem::vgpu::nccl
