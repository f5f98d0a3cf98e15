#include "vgpu/cudnn/rnn_weights.h"

#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

int gates_of(int cell) {
  switch (cell) {
    case CUDNN_LSTM:
      return 4;
    case CUDNN_GRU:
      return 3;
    default:
      return 1;
  }
}

}  // namespace

RnnWeights::RnnWeights(const cudnnRNNStruct& rnn)
    : rnn_(rnn),
      gates_(gates_of(rnn.cell)),
      directions_(rnn.direction == 0 ? 1 : 2),
      element_(data_type_bytes(rnn.type)) {}

int RnnWeights::layers() const { return rnn_.layers * directions_; }

bool RnnWeights::projects() const { return rnn_.projection > 0 && rnn_.projection != rnn_.hidden; }

// The first layer of an RNN whose input mode is "skip" (1) has no matrix for its input.
int RnnWeights::input_columns(int layer) const {
  int output = projects() ? rnn_.projection : rnn_.hidden;
  if (layer / directions_ > 0) return output * directions_;
  return rnn_.input_mode == 1 ? 0 : rnn_.width;
}

uint64_t RnnWeights::matrix_bytes(int layers) const {
  uint64_t elements = 0;
  auto hidden = static_cast<uint64_t>(rnn_.hidden);
  auto output = static_cast<uint64_t>(projects() ? rnn_.projection : rnn_.hidden);
  for (int layer = 0; layer < layers; ++layer) {
    elements +=
        static_cast<uint64_t>(gates_) * hidden * (static_cast<uint64_t>(input_columns(layer)) + output);
    if (projects()) elements += output * hidden;
  }
  return elements * element_;
}

uint64_t RnnWeights::bias_bytes(int layers) const {
  uint64_t vectors = rnn_.bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : rnn_.bias == CUDNN_RNN_NO_BIAS ? 0 : 1;
  return static_cast<uint64_t>(layers) * vectors * static_cast<uint64_t>(gates_) *
         static_cast<uint64_t>(rnn_.hidden) * element_;
}

RnnWeights::Part RnnWeights::matrix(int layer, int id) const {
  int columns = input_columns(layer);
  int output = projects() ? rnn_.projection : rnn_.hidden;
  auto rows = static_cast<uint64_t>(rnn_.hidden);
  uint64_t start = matrix_bytes(layer);
  auto inputs = static_cast<uint64_t>(gates_) * rows * static_cast<uint64_t>(columns);
  auto hiddens = static_cast<uint64_t>(gates_) * rows * static_cast<uint64_t>(output);
  auto index = static_cast<uint64_t>(id % gates_);
  if (id < gates_)
    return {start + index * rows * static_cast<uint64_t>(columns) * element_, columns ? rnn_.hidden : 0,
            columns};
  if (id < 2 * gates_)
    return {start + (inputs + index * rows * static_cast<uint64_t>(output)) * element_, rnn_.hidden, output};
  if (id == 2 * gates_ && projects())
    return {start + (inputs + hiddens) * element_, rnn_.projection, rnn_.hidden};
  return {};
}

RnnWeights::Part RnnWeights::bias(int layer, int id) const {
  bool input = id < gates_;
  if (id >= 2 * gates_ || rnn_.bias == CUDNN_RNN_NO_BIAS ||
      (input && rnn_.bias == CUDNN_RNN_SINGLE_REC_BIAS) || (!input && rnn_.bias == CUDNN_RNN_SINGLE_INP_BIAS))
    return {};
  int index = rnn_.bias == CUDNN_RNN_DOUBLE_BIAS ? id : id % gates_;
  uint64_t start = matrix_bytes() + bias_bytes(layer);
  return {start + static_cast<uint64_t>(index) * static_cast<uint64_t>(rnn_.hidden) * element_, rnn_.hidden,
          1};
}

}  // namespace torchmem::vgpu
