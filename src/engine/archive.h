#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace torchmem::engine {

// What is known of a model's file before it is loaded.
struct ArchiveFacts {
  std::uint64_t file_bytes = 0;
  std::uint64_t format_version = 0;
};

// Throws Failure (bad_model) unless the path is a TorchScript archive that this LibTorch can read; the
// message says what it is instead: nothing, a directory, empty, cut off, a torch.save checkpoint, an
// exported program, a web page, another zip.
ArchiveFacts check_archive(const std::string& path);

// The operators that the archive's code calls by namespace (`ops.NAMESPACE.NAME`) and that nothing loaded so
// far provides, as "namespace::name". PyTorch's loader stops at the first one.
std::set<std::string> missing_operators(const std::string& path);

// Whether the archive's code uses quantized operators or packed quantized weights. Loading those onto a CUDA
// device ends the process: the packing reads device memory as if it were the host's.
bool is_quantized(const std::string& path);

// Whether torch.jit.optimize_for_inference, on the CPU, put oneDNN's weights and operators into its code.
bool has_onednn(const std::string& path);

}  // namespace torchmem::engine
