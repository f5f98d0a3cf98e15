// The facts in the repository come back, to the byte, through cuDNN's own interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "cudnn_functions.h"
#include "device.h"
#include "graph_builder.h"
#include "vgpu/cudnn/batch_norm_space.h"
#include "vgpu/workspaces/data_type.h"
#include "vgpu/workspaces/facts_text.h"

using namespace torchmem::vgpu;

namespace {

const FactsText& text() {
  static const FactsText facts = [] {
    std::ifstream file(TORCHMEM_FACTS);
    return read_facts_text(file);
  }();
  return facts;
}

// The words of a named fact: bare ones in order, NAME=VALUE ones by name.
struct Words {
  explicit Words(const std::string& key) {
    std::istringstream stream(key);
    for (std::string word; stream >> word;) {
      size_t equals = word.find('=');
      if (equals == std::string::npos)
        bare.push_back(word);
      else
        named[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  int number(const std::string& name) const { return std::stoi(named.at(name)); }

  std::vector<std::string> bare;
  std::map<std::string, std::string> named;
};

int type_of(const std::string& name) {
  for (const DataType& type : data_types)
    if (name == type.name) return type.number;
  ADD_FAILURE() << "no data type " << name;
  return -1;
}

// Dimensions and strides of a tensor, "16x64x56x56" and "nchw" or "nhwc".
std::pair<std::vector<int>, std::vector<int>> shape_of(const std::string& sizes, const std::string& layout) {
  std::vector<int> dims;
  std::istringstream stream(sizes);
  for (std::string one; std::getline(stream, one, 'x');) dims.push_back(std::stoi(one));
  std::vector<size_t> order;  // of the strides, smallest first
  for (size_t i = dims.size(); i-- > 0;)
    if (i != 1) order.push_back(i);
  order.insert(layout == "nhwc" ? order.begin() : order.end() - 1, 1);
  std::vector<int> strides(dims.size());
  int dense = 1;
  for (size_t i : order) {
    strides[i] = dense;
    dense *= dims[i];
  }
  return {dims, strides};
}

size_t ask_batch_norm(const Words& words) {
  auto [dims, strides] = shape_of(words.bare.at(2), words.bare.at(3));
  cudnnTensorDescriptor_t x = nullptr;
  EXPECT_EQ(cudnnCreateTensorDescriptor(&x), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnSetTensorNdDescriptor(x, type_of(words.bare[1]), static_cast<int>(dims.size()), dims.data(),
                                       strides.data()),
            CUDNN_STATUS_SUCCESS);
  size_t bytes = SIZE_MAX;
  int mode = words.number("mode");
  if (words.bare[0] == "batch_norm_forward")
    cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(nullptr, mode, 0, x, nullptr, x, nullptr,
                                                             nullptr, &bytes);
  else if (words.bare[0] == "batch_norm_backward")
    cudnnGetBatchNormalizationBackwardExWorkspaceSize(nullptr, mode, 0, x, nullptr, x, nullptr, x, nullptr,
                                                      nullptr, &bytes);
  else
    cudnnGetBatchNormalizationTrainingExReserveSpaceSize(nullptr, mode, 0, nullptr, x, &bytes);
  cudnnDestroyTensorDescriptor(x);
  return bytes;
}

size_t ask_rnn(const Words& words) {
  static const std::map<std::string, cudnnRNNMode_t> cells = {
      {"relu", CUDNN_RNN_RELU}, {"tanh", CUDNN_RNN_TANH}, {"lstm", CUDNN_LSTM}, {"gru", CUDNN_GRU}};
  bool weights = words.bare[0] == "rnn_weights";
  size_t first = weights ? 1 : 2;
  cudnnHandle_t handle = nullptr;
  cudnnRNNDescriptor_t rnn = nullptr;
  cudnnCreate(&handle);
  cudnnCreateRNNDescriptor(&rnn);
  EXPECT_EQ(cudnnSetRNNDescriptor_v8(rnn, words.number("algorithm"), cells.at(words.bare[first]),
                                     static_cast<cudnnRNNBiasMode_t>(words.number("bias")),
                                     words.number("direction"), words.number("input"),
                                     type_of(words.bare[first + 1]), type_of(words.named.at("precision")),
                                     words.number("math"), words.number("width"), words.number("hidden"),
                                     words.number("projection"), words.number("layers"), nullptr,
                                     static_cast<uint32_t>(words.number("flags"))),
            CUDNN_STATUS_SUCCESS);
  size_t bytes = SIZE_MAX;
  if (weights) {
    cudnnGetRNNWeightSpaceSize(handle, rnn, &bytes);
  } else {
    int batch = words.number("batch"), length = words.number("length");
    EXPECT_EQ(batch * length, words.number("total"));
    std::vector<int> lengths(static_cast<size_t>(batch), length);
    cudnnRNNDataDescriptor_t data = nullptr;
    cudnnCreateRNNDataDescriptor(&data);
    cudnnSetRNNDataDescriptor(data, type_of(words.named.at("data")), words.number("layout"), length, batch,
                              words.number("width"), lengths.data(), nullptr);
    auto mode = words.bare[1] == "training" ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
    bool reserve = words.bare[0] == "rnn_reserve";
    cudnnGetRNNTempSpaceSizes(handle, rnn, mode, data, reserve ? nullptr : &bytes,
                              reserve ? &bytes : nullptr);
    cudnnDestroyRNNDataDescriptor(data);
  }
  cudnnDestroyRNNDescriptor(rnn);
  cudnnDestroy(handle);
  return bytes;
}

}  // namespace

// One in seven: all of them take a minute.
TEST(Facts, ConvolutionsComeBack) {
  ASSERT_GT(text().convolutions.size(), 300000u);
  device::forget();
  std::vector<uint64_t> bytes;
  for (size_t i = 0; i < text().convolutions.size(); i += 7) {
    const ConvolutionFact& fact = text().convolutions[i];
    ASSERT_EQ(plan_workspace(make_plan(convolution_graph(fact.problem))), fact.bytes);
    bytes.push_back(fact.bytes);
  }
  ASSERT_EQ(device::workspaces.size(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(device::workspaces[i].how, 0) << device::workspaces[i].problem;
    ASSERT_EQ(device::workspaces[i].bytes, bytes[i]);
  }
}

TEST(Facts, EveryOtherComesBack) {
  int asked = 0;
  for (const NamedFact& fact : text().named) {
    std::string key = fact.key;
    Words words(key);
    device::forget();
    size_t bytes = 0;
    if (key.starts_with("batch_norm"))
      bytes = ask_batch_norm(words);
    else if (key.starts_with("rnn_"))
      bytes = ask_rnn(words);
    else if (key == "dropout_states")
      cudnnDropoutGetStatesSize(nullptr, &bytes);
    else
      continue;
    ++asked;
    ASSERT_EQ(bytes, fact.bytes) << key;
    ASSERT_EQ(device::workspaces.size(), 1u);
    ASSERT_EQ(device::workspaces[0].how, 0) << key;
  }
  EXPECT_EQ(asked, 1078);
}

// The rule alone, without the record.
TEST(Facts, TheRuleOfBatchNormGivesEveryRecord) {
  int with_bytes = 0, all = 0;
  for (const NamedFact& fact : text().named) {
    std::string key = fact.key;
    if (!key.starts_with("batch_norm")) continue;
    Words words(key);
    auto [dims, strides] = shape_of(words.bare.at(2), words.bare.at(3));
    TensorShape shape;
    shape.type = type_of(words.bare[1]);
    shape.count = static_cast<int>(dims.size());
    std::copy(dims.begin(), dims.end(), shape.dims);
    std::copy(strides.begin(), strides.end(), shape.strides);
    auto space = key.starts_with("batch_norm_forward")    ? BatchNormSpace::forward
                 : key.starts_with("batch_norm_backward") ? BatchNormSpace::backward
                                                          : BatchNormSpace::reserve;
    EXPECT_EQ(batch_norm_space(space, words.number("mode"), shape), fact.bytes) << key;
    with_bytes += fact.bytes > 0;
    ++all;
  }
  EXPECT_GT(all, 1000);
  EXPECT_GT(with_bytes, 250);
}

TEST(Facts, BatchNormOfWhatWasNotRecordedIsNotKnown) {
  TensorShape shape;
  shape.type = 9;  // bf16
  shape.count = 4;
  auto set = [&](std::initializer_list<int64_t> dims, std::initializer_list<int64_t> strides) {
    std::copy(dims.begin(), dims.end(), shape.dims);
    std::copy(strides.begin(), strides.end(), shape.strides);
  };
  set({8, 16, 7, 7}, {784, 49, 7, 1});
  EXPECT_FALSE(batch_norm_space(BatchNormSpace::forward, 1, shape));
  shape.type = 0;
  EXPECT_EQ(batch_norm_space(BatchNormSpace::forward, 1, shape), 0u);
  EXPECT_FALSE(batch_norm_space(BatchNormSpace::forward, 2, shape));
  EXPECT_FALSE(batch_norm_space(BatchNormSpace::forward, 0, shape));
}

TEST(Facts, EveryAttentionGraphComesBack) {
  std::ifstream file(TORCHMEM_ATTENTION_GRAPHS);
  int graphs = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    size_t space = line.find(' ');
    device::forget();
    EXPECT_EQ(plan_workspace(make_plan(read_descriptor(line.substr(space + 1)))), std::stoull(line));
    ASSERT_EQ(device::workspaces.size(), 1u);
    EXPECT_EQ(device::workspaces[0].how, 0)
        << device::workspaces[0].operation << ' ' << device::workspaces[0].problem;
    ++graphs;
  }
  EXPECT_EQ(graphs, 15);
}

TEST(Facts, TheVersionIsTheFacts) {
  EXPECT_EQ(cudnnGetVersion(), text().cudnn_version);
  int major = 0, minor = 0;
  cudnnGetProperty(0, &major);
  cudnnGetProperty(1, &minor);
  EXPECT_EQ(static_cast<uint32_t>(major * 10000 + minor * 100), text().cudnn_version);
}

TEST(Facts, AreFoundInMicroseconds) {
  Facts facts;
  auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(facts.open(TORCHMEM_FACTS_INDEX));
  auto opened = std::chrono::steady_clock::now();
  uint64_t found = 0;
  for (const ConvolutionFact& fact : text().convolutions) found += facts.find(fact.problem) != nullptr;
  auto end = std::chrono::steady_clock::now();
  EXPECT_EQ(found, text().convolutions.size());
  double each = std::chrono::duration<double, std::micro>(end - opened).count() / static_cast<double>(found);
  double open = std::chrono::duration<double, std::micro>(opened - start).count();
  RecordProperty("lookup_nanoseconds", static_cast<int>(each * 1000));
  RecordProperty("open_microseconds", static_cast<int>(open));
  EXPECT_LT(each, 50);
  EXPECT_LT(open, 20000);
}

TEST(Facts, ABadLineIsNamed) {
  std::istringstream bad("gpu x\ncudnn 1\n[conv f32 nchw]\n1x1x8x8 -> 3 k3x3: 0 0 0\n1x1x8x8 -> 3: 0 0 0\n");
  try {
    read_facts_text(bad);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("line 5"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("expected a kernel"), std::string::npos) << error.what();
  }
}
