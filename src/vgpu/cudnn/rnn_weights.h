#pragma once

#include <cstdint>

#include "vgpu/cudnn/descriptors.h"

namespace torchmem::vgpu {

// How an RNN's weight space is laid out: the matrices of all layers (forward before backward direction), each
// layer's for the input, for the hidden state and for the projection; then all biases in the same order.
// Nothing is padded: the recorded weight spaces are exactly the sum of their parts.
class RnnWeights {
 public:
  explicit RnnWeights(const cudnnRNNStruct& rnn);

  struct Part {
    uint64_t offset = 0;  // bytes from the start of the weight space
    int rows = 0;         // 0: this RNN has no such part
    int columns = 0;
    uint64_t elements() const { return static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns); }
  };

  // `layer`: cuDNN's pseudo layer, layer x directions + direction. `id`: cuDNN's linLayerID, first the gates'
  // input matrices, then those of the hidden state, then the projection.
  Part matrix(int layer, int id) const;
  Part bias(int layer, int id) const;

  uint64_t bytes() const { return matrix_bytes() + bias_bytes(layers()); }
  uint64_t matrix_bytes() const { return matrix_bytes(layers()); }
  int gates() const { return gates_; }
  int layers() const;  // pseudo layers

 private:
  int input_columns(int layer) const;
  bool projects() const;
  uint64_t matrix_bytes(int layers) const;
  uint64_t bias_bytes(int layers) const;

  const cudnnRNNStruct& rnn_;
  int gates_;
  int directions_;
  uint64_t element_;
};

}  // namespace torchmem::vgpu
