#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/workspaces/convolution.h"

namespace torchmem::vgpu {

// An index of facts, as vgpu_index_facts writes it: one header, `convolutions` records ordered by problem
// (memcmp), then `named` records ordered by key (strcmp). Host byte order, made on the machine that reads it.
struct FactsHeader {
  char magic[16];  // facts_magic
  char gpu[32];
  uint32_t cudnn_version;
  uint32_t convolutions;
  uint32_t named;
  uint32_t unused;
};
inline constexpr char facts_magic[16] = "torchmem-facts2";

struct ConvolutionFact {
  ConvolutionProblem problem;
  int32_t engine;  // cuDNN's global index of the engine that was chosen, -1 where not recorded
  uint64_t bytes;
};

struct NamedFact {
  char key[248];  // NUL-terminated, e.g. "batch_norm_forward mode=1 f32 16x64x56x56 nchw"
  uint64_t bytes;
};

// Facts of one GPU and cuDNN version, mapped read-only. A missing or unreadable index holds no facts.
// Lookups allocate nothing, take microseconds and may run on any thread.
class Facts {
 public:
  Facts() = default;
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;
  ~Facts();

  bool open(const char* path);

  bool is_open() const { return header_ != nullptr; }
  const char* gpu() const { return header_ ? header_->gpu : ""; }
  uint32_t cudnn_version() const { return header_ ? header_->cudnn_version : 0; }

  // The recorded fact of exactly this problem, or nullptr.
  const ConvolutionFact* find(const ConvolutionProblem& problem) const;
  const NamedFact* find(const char* key) const;

  // All facts of the problem's class (operation, type, layout, dimensions, grouping).
  struct Range {
    const ConvolutionFact* first;
    const ConvolutionFact* last;
    const ConvolutionFact* begin() const { return first; }
    const ConvolutionFact* end() const { return last; }
  };
  Range class_of(const ConvolutionProblem& problem) const;
  // All facts of the problem's geometry: the same convolution with any batch, in no order.
  Range geometry_of(const ConvolutionProblem& problem) const;
  Range convolutions() const;

  // Named facts whose key starts with `prefix`.
  struct NamedRange {
    const NamedFact* first;
    const NamedFact* last;
    const NamedFact* begin() const { return first; }
    const NamedFact* end() const { return last; }
  };
  NamedRange starting_with(const char* prefix) const;

 private:
  Range with_first_bytes_of(const ConvolutionProblem& problem, size_t bytes) const;

  const FactsHeader* header_ = nullptr;
  size_t size_ = 0;
  const ConvolutionFact* convolutions_ = nullptr;
  const NamedFact* named_ = nullptr;
};

}  // namespace torchmem::vgpu
