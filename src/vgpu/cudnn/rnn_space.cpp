#include "vgpu/cudnn/rnn_space.h"

#include <cstdio>

#include "vgpu/cudnn/rnn_weights.h"
#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

using Key = char[sizeof NamedFact::key];

const char* cell_name(int cell) {
  constexpr const char* names[] = {"relu", "tanh", "lstm", "gru"};
  return cell >= 0 && cell < 4 ? names[cell] : "?";
}

int write_rnn(const cudnnRNNStruct& rnn, char* text, size_t size) {
  return snprintf(text, size,
                  "algorithm=%d %s bias=%d direction=%d input=%d %s precision=%s math=%d width=%d hidden=%d "
                  "projection=%d layers=%d flags=%u",
                  rnn.algorithm, cell_name(rnn.cell), rnn.bias, rnn.direction, rnn.input_mode,
                  data_type_name(rnn.type), data_type_name(rnn.precision), rnn.math, rnn.width, rnn.hidden,
                  rnn.projection, rnn.layers, rnn.flags);
}

void write_key(const char* operation, const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data,
               bool training, Key& key) {
  char words[sizeof key];
  write_rnn(rnn, words, sizeof words);
  int at = snprintf(key, sizeof key, "%s %s %s", operation, training ? "training" : "inference", words);
  if (at < static_cast<int>(sizeof key))
    snprintf(key + at, sizeof key - static_cast<size_t>(at),
             " data=%s layout=%d length=%d batch=%d total=%lld", data_type_name(data.type), data.layout,
             data.length, data.batch, static_cast<long long>(data.total));
}

// Bytes of one vector of the hidden size for each step of each sequence.
uint64_t steps_bytes(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data) {
  constexpr int packed = 1;
  auto steps = data.layout == packed ? static_cast<uint64_t>(data.total)
                                     : static_cast<uint64_t>(data.length) * static_cast<uint64_t>(data.batch);
  return steps * static_cast<uint64_t>(rnn.hidden) * data_type_bytes(rnn.type);
}

uint64_t states_bytes(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data) {
  return static_cast<uint64_t>(data.batch) * static_cast<uint64_t>(rnn.hidden) * data_type_bytes(rnn.type);
}

// The recorded reserves are, to the byte: for every layer and direction 5 (LSTM: four gates, the cell) or 6
// (GRU) vectors a step, 1 more for what a layer hands to the next, LSTM two states, and 256 bytes. Plain
// cells are taken to keep one.
uint64_t estimate_reserve(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data) {
  uint64_t directions = rnn.direction == 0 ? 1 : 2, layers = static_cast<uint64_t>(rnn.layers);
  uint64_t kept = rnn.cell == CUDNN_LSTM ? 5 : rnn.cell == CUDNN_GRU ? 6 : 1;
  uint64_t states = rnn.cell == CUDNN_LSTM ? 2 * layers * directions : 0;
  return steps_bytes(rnn, data) * directions * (kept * layers + layers - 1) +
         states * states_bytes(rnn, data) + 256;
}

// The recorded workspaces hold a copy of the matrices; what is left is, by step, layer and direction, 3.8
// vectors in inference and 4.3 (LSTM) to 4.7 (GRU) in training. Plain cells, with one gate for LSTM's four,
// are taken to need less in proportion.
uint64_t estimate_workspace(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data, bool training) {
  RnnWeights weights(rnn);
  uint64_t percent = rnn.cell == CUDNN_GRU ? 470 : rnn.cell == CUDNN_LSTM ? 433 : 133;
  if (!training) percent -= 50;
  uint64_t steps = steps_bytes(rnn, data) * static_cast<uint64_t>(weights.layers()) * percent / 100;
  return (weights.matrix_bytes() + steps + 127) / 128 * 128;  // the recorded ones are multiples of 128
}

}  // namespace

Workspace rnn_weight_space(const cudnnRNNStruct& rnn) {
  Key key, words;
  write_rnn(rnn, words, sizeof words);
  snprintf(key, sizeof key, "rnn_weights %.*s", static_cast<int>(sizeof key) - 13, words);
  uint64_t bytes = RnnWeights(rnn).bytes();
  Workspace space = named_workspace("rnn_weights", key, {bytes, Knowledge::estimated});
  space.size.knowledge = Knowledge::recorded;  // the layout leaves nothing to estimate
  return space;
}

Workspace rnn_workspace(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data, bool training) {
  Key key;
  write_key("rnn_workspace", rnn, data, training, key);
  uint64_t estimate = estimate_workspace(rnn, data, training);
  return named_workspace("rnn_workspace", key, {estimate, Knowledge::estimated});
}

Workspace rnn_reserve(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data, bool training) {
  Key key;
  write_key("rnn_reserve", rnn, data, training, key);
  uint64_t estimate = training ? estimate_reserve(rnn, data) : 0;
  return named_workspace("rnn_reserve", key, {estimate, Knowledge::estimated});
}

}  // namespace torchmem::vgpu
