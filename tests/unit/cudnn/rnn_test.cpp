// The weight space of an RNN is laid out as PyTorch checks it.
#include <gtest/gtest.h>

#include "cudnn_functions.h"

namespace {

struct Rnn {
  cudnnHandle_t handle = nullptr;
  cudnnRNNDescriptor_t descriptor = nullptr;

  Rnn(cudnnRNNMode_t cell, int direction, int width, int hidden, int projection, int layers) {
    cudnnCreate(&handle);
    cudnnCreateRNNDescriptor(&descriptor);
    EXPECT_EQ(cudnnSetRNNDescriptor_v8(descriptor, 0, cell, CUDNN_RNN_DOUBLE_BIAS, direction, 0, 0, 0, 0,
                                       width, hidden, projection, layers, nullptr, 1),
              CUDNN_STATUS_SUCCESS);
  }
  ~Rnn() {
    cudnnDestroyRNNDescriptor(descriptor);
    cudnnDestroy(handle);
  }

  size_t bytes() const {
    size_t size = 0;
    EXPECT_EQ(cudnnGetRNNWeightSpaceSize(handle, descriptor, &size), CUDNN_STATUS_SUCCESS);
    return size;
  }

  // Offset and dims of a matrix or a bias.
  struct Part {
    size_t offset;
    int dims[3];
    size_t elements() const { return static_cast<size_t>(dims[0]) * dims[1] * dims[2]; }
  };
  Part part(int layer, int id, bool matrix) const {
    static char space[1];
    cudnnTensorDescriptor_t tensor = nullptr;
    cudnnCreateTensorDescriptor(&tensor);
    void* address = nullptr;
    EXPECT_EQ(cudnnGetRNNWeightParams(handle, descriptor, layer, bytes(), space, id,
                                      matrix ? tensor : nullptr, matrix ? &address : nullptr,
                                      matrix ? nullptr : tensor, matrix ? nullptr : &address),
              CUDNN_STATUS_SUCCESS);
    Part part{};
    int type = -1, count = 0, strides[3];
    EXPECT_EQ(cudnnGetTensorNdDescriptor(tensor, 3, &type, &count, part.dims, strides), CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(count, 3);
    part.offset = static_cast<size_t>(static_cast<char*>(address) - space);
    cudnnDestroyTensorDescriptor(tensor);
    return part;
  }
};

// Within a layer the parts of one kind follow each other, as PyTorch's get_parameters asserts; together the
// parts fill the space and none overlaps.
void expect_dense(const Rnn& rnn, int layers, int gates) {
  size_t elements = 0;
  for (int layer = 0; layer < layers; ++layer)
    for (bool matrix : {true, false}) {
      size_t next = 0;
      for (int id = 0; id < 2 * gates; ++id) {
        Rnn::Part part = rnn.part(layer, id, matrix);
        if (id != 0 && id != gates) {
          EXPECT_EQ(part.offset, next);
        }
        next = part.offset + part.elements() * 4;
        EXPECT_LE(next, rnn.bytes());
        elements += part.elements();
      }
    }
  EXPECT_EQ(elements * 4, rnn.bytes());
}

}  // namespace

TEST(RnnWeights, Lstm) {
  Rnn rnn(CUDNN_LSTM, 0, 512, 1024, 1024, 2);
  EXPECT_EQ(rnn.bytes(), 58785792u);  // recorded
  expect_dense(rnn, 2, 4);
  Rnn::Part input = rnn.part(0, 0, true);
  EXPECT_EQ(input.offset, 0u);
  EXPECT_EQ(input.dims[0], 1);
  EXPECT_EQ(input.dims[1], 1024);
  EXPECT_EQ(input.dims[2], 512);
  EXPECT_EQ(rnn.part(1, 0, true).dims[2], 1024);
  EXPECT_EQ(rnn.part(0, 0, false).dims[2], 1);
}

TEST(RnnWeights, BidirectionalGru) {
  Rnn rnn(CUDNN_GRU, 1, 80, 256, 256, 3);
  EXPECT_EQ(rnn.bytes(), 11538432u);  // recorded
  expect_dense(rnn, 6, 3);
  EXPECT_EQ(rnn.part(2, 0, true).dims[2], 512);  // both directions of the layer below
}

TEST(RnnWeights, Plain) { expect_dense(Rnn(CUDNN_RNN_TANH, 0, 10, 20, 20, 2), 2, 1); }

TEST(RnnWeights, Projection) {
  Rnn rnn(CUDNN_LSTM, 0, 64, 128, 32, 1);
  Rnn::Part projection = rnn.part(0, 8, true);
  EXPECT_EQ(projection.dims[1], 32);
  EXPECT_EQ(projection.dims[2], 128);
  EXPECT_EQ(rnn.part(0, 4, true).dims[2], 32);
  EXPECT_EQ(rnn.bytes(), 4u * (4 * 128 * (64 + 32) + 32 * 128 + 2 * 4 * 128));
}

TEST(RnnWeights, OutOfRangeIsRefused) {
  Rnn rnn(CUDNN_GRU, 0, 8, 8, 8, 1);
  EXPECT_EQ(cudnnGetRNNWeightParams(rnn.handle, rnn.descriptor, 1, rnn.bytes(), nullptr, 0, nullptr, nullptr,
                                    nullptr, nullptr),
            CUDNN_STATUS_BAD_PARAM);
}
