#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudnn_functions.h"
#include "vgpu/workspaces/convolution.h"

// A backend descriptor of the virtual cuDNN, destroyed with this object.
class Descriptor {
 public:
  explicit Descriptor(int type);
  Descriptor(Descriptor&& other) noexcept;
  ~Descriptor();

  void set(int name, cudnnBackendAttributeType_t type, const std::vector<int64_t>& values);
  void set(int name, const std::vector<Descriptor>& values);
  cudnnStatus_t finalize();
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// The operation graph of one convolution, as cuDNN's frontend builds it: every part is destroyed once it was
// set.
Descriptor convolution_graph(const torchmem::vgpu::ConvolutionProblem& problem);

// A descriptor from its text, {type:attribute=value,...;}, nested descriptors included.
Descriptor read_descriptor(const std::string& text);

// From a graph to plans as the frontend goes: heuristics, the engine configurations that they offer, an
// execution plan of each, or of the first `most`.
std::vector<Descriptor> make_plans(Descriptor graph, int64_t most = 100);

// The first of them.
Descriptor make_plan(Descriptor graph);

uint64_t plan_workspace(const Descriptor& plan);
