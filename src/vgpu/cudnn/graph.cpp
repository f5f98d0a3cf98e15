#include "vgpu/cudnn/graph.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "vgpu/cudnn/tensor_shape.h"
#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

using Value = BackendValue;

bool read_tensor(const Value* descriptor, TensorShape& shape) {
  if (!descriptor || descriptor->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR) return false;
  const BackendAttribute* dims = descriptor->find(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const BackendAttribute* strides = descriptor->find(CUDNN_ATTR_TENSOR_STRIDES);
  if (!dims || !strides || dims->count != strides->count || dims->count > TensorShape::most) return false;
  shape.type = static_cast<int>(descriptor->number(CUDNN_ATTR_TENSOR_DATA_TYPE));
  shape.is_virtual = descriptor->number(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0;
  shape.count = static_cast<int>(dims->count);
  for (int i = 0; i < shape.count; ++i) {
    shape.dims[i] = descriptor->number(CUDNN_ATTR_TENSOR_DIMENSIONS, static_cast<size_t>(i));
    shape.strides[i] = descriptor->number(CUDNN_ATTR_TENSOR_STRIDES, static_cast<size_t>(i));
  }
  return true;
}

struct ConvolutionAttributes {
  cudnnBackendDescriptorType_t type;
  ConvolutionOperation operation;
  cudnnBackendAttributeName_t convolution, x, w, y;
};

constexpr ConvolutionAttributes convolution_kinds[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, ConvolutionOperation::forward,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, ConvolutionOperation::backward_data,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, ConvolutionOperation::backward_filter,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
};

bool read_convolution(const Value& operation, ConvolutionProblem& problem) {
  for (const ConvolutionAttributes& known : convolution_kinds) {
    if (known.type != operation.type) continue;
    TensorShape x, w, y;
    const Value* convolution = operation.descriptor(known.convolution);
    if (!convolution || !read_tensor(operation.descriptor(known.x), x) ||
        !read_tensor(operation.descriptor(known.w), w) || !read_tensor(operation.descriptor(known.y), y))
      return false;
    int64_t padding[3], stride[3], dilation[3];
    for (size_t i = 0; i < 3; ++i) {
      padding[i] = convolution->number(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i, 0);
      stride[i] = convolution->number(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, i, 1);
      dilation[i] = convolution->number(CUDNN_ATTR_CONVOLUTION_DILATIONS, i, 1);
    }
    return make_convolution(known.operation, x, w, y, padding, stride, dilation, problem);
  }
  return false;
}

// What the workspace of attention can depend on.
struct Attention {
  bool backward = false;
  bool unified = false;  // one SDPA operation rather than its parts
  bool causal = false;
  bool dropout = false;
  bool stats = false;
  TensorShape q, k, v;  // batch, heads, length, width
  TensorShape masks[2];
  int mask_count = 0;
};

bool read_unified(const Value& operation, Attention& out) {
  out.unified = true;
  out.backward = operation.type == CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR;
  if (out.backward)
    return read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC), out.q) &&
           read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC), out.k) &&
           read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC), out.v);
  out.stats = operation.find(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC) != nullptr;
  return read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC), out.q) &&
         read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC), out.k) &&
         read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC), out.v);
}

void read_pointwise(const Value& operation, const TensorShape& scores, Attention& out) {
  TensorShape other, result;
  if (read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC), result)) {
    // Row and column numbers are compared in causal masks alone.
    out.causal |= data_type(result.type) && strcmp(data_type_name(result.type), "i32") == 0;
    out.stats |= !result.is_virtual && result.is(scores.dims[0], scores.dims[1], scores.dims[2], 1);
  }
  if (read_tensor(operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC), other) && !other.is_virtual &&
      other.count == 4 && other.dims[3] == scores.dims[3] && scores.dims[3] > 1 && out.mask_count < 2)
    out.masks[out.mask_count++] = other;
}

// Attention as the frontend spells it out: two matrix products forward, five backward, between them the
// softmax.
bool read_composite(const BackendAttribute& operations, Attention& out) {
  const Value* products[5] = {};
  const Value* first_pointwise = nullptr;
  int count = 0;
  for (const BackendValuePointer& operation : operations.nested) {
    if (operation->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
      if (count == 5) return false;
      products[count++] = operation.get();
    }
    if (operation->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR && !first_pointwise)
      first_pointwise = operation.get();
  }
  if ((count != 2 && count != 5) || !first_pointwise) return false;
  out.backward = count == 5;
  TensorShape keys, scores;
  if (!read_tensor(products[0]->descriptor(CUDNN_ATTR_OPERATION_MATMUL_ADESC), out.q) ||
      !read_tensor(products[0]->descriptor(CUDNN_ATTR_OPERATION_MATMUL_BDESC), keys) ||
      !read_tensor(products[0]->descriptor(CUDNN_ATTR_OPERATION_MATMUL_CDESC), scores) || keys.count != 4 ||
      scores.count != 4 || out.q.count != 4)
    return false;
  out.k = keys;
  out.k.dims[2] = keys.dims[3];
  out.k.dims[3] = keys.dims[2];
  TensorShape values;
  if (!read_tensor(out.backward ? first_pointwise->descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)
                                : products[1]->descriptor(CUDNN_ATTR_OPERATION_MATMUL_BDESC),
                   values) ||
      values.count != 4)
    return false;
  out.v = values;
  if (out.backward) {  // `values` is the output's gradient, of which only the width is the values'
    out.v = out.k;
    out.v.dims[3] = values.dims[3];
  }
  for (const BackendValuePointer& operation : operations.nested) {
    if (operation->type == CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR) out.dropout = true;
    if (operation->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
      read_pointwise(*operation, scores, out);
    TensorShape reduced;
    if (operation->type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR &&
        read_tensor(operation->descriptor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC), reduced))
      out.stats |= !reduced.is_virtual && reduced.is(scores.dims[0], scores.dims[1], scores.dims[2], 1);
  }
  if (out.backward) out.stats = false;
  return true;
}

void add(char*& at, char* end, const char* format, ...) __attribute__((format(printf, 3, 4)));
void add(char*& at, char* end, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(at, static_cast<size_t>(end - at), format, arguments);
  va_end(arguments);
  at += length < end - at ? length : end - at - 1;
}

void add_dims(char*& at, char* end, const char* before, const TensorShape& shape) {
  for (int i = 0; i < shape.count; ++i)
    add(at, end, "%s%lld", i ? "x" : before, static_cast<long long>(shape.dims[i]));
}

// The 256 bytes that every recorded graph takes; and in the backward pass, when several query heads share a
// key head, the gradients of keys and values for every query head, before they are added up.
uint64_t estimate_attention(const Attention& attention) {
  uint64_t bytes = 256;
  if (!attention.backward) return bytes;
  auto expanded = [&](const TensorShape& shape) {
    if (shape.dims[1] == attention.q.dims[1]) return uint64_t{0};
    return static_cast<uint64_t>(shape.dims[0] * attention.q.dims[1] * shape.dims[2] * shape.dims[3]) *
           data_type_bytes(shape.type);
  };
  return bytes + expanded(attention.k) + expanded(attention.v);
}

Workspace attention_workspace(const Attention& attention) {
  const char* operation = attention.backward ? "sdpa_backward" : "sdpa_forward";
  char key[sizeof NamedFact::key];
  char *at = key, *end = key + sizeof key;
  add(at, end, "%s %s", operation, data_type_name(attention.q.type));
  add_dims(at, end, " q=", attention.q);
  add_dims(at, end, " k=", attention.k);
  add_dims(at, end, " v=", attention.v);
  if (attention.causal) add(at, end, " causal");
  for (int i = 0; i < attention.mask_count; ++i) add_dims(at, end, " mask=", attention.masks[i]);
  if (attention.dropout) add(at, end, " dropout");
  if (attention.stats) add(at, end, " stats");
  if (attention.unified) add(at, end, " unified");
  uint64_t estimate = estimate_attention(attention);
  return named_workspace(operation, key, {estimate, Knowledge::estimated});
}

// A convolution followed by element-wise operations, as cudnn_convolution_relu makes it: taken to need what
// the convolution needs by itself.
bool read_fused_convolution(const BackendAttribute& operations, ConvolutionProblem& problem) {
  int convolutions = 0;
  for (const BackendValuePointer& operation : operations.nested) {
    if (read_convolution(*operation, problem))
      ++convolutions;
    else if (operation->type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
      return false;
  }
  return convolutions == 1;
}

}  // namespace

Workspace graph_workspace(const BackendValue& graph) {
  const BackendAttribute* operations = graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (operations && !operations->nested.empty()) {
    const Value& first = *operations->nested[0];
    ConvolutionProblem problem;
    if (read_fused_convolution(*operations, problem)) {
      Workspace workspace = convolution_workspace(problem);
      bool fused = operations->nested.size() > 1;
      if (fused && workspace.size.knowledge == Knowledge::recorded)
        workspace.size.knowledge = Knowledge::estimated;
      return workspace;
    }
    Attention attention;
    bool unified = first.type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR ||
                   first.type == CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR;
    if (unified ? read_unified(first, attention) : read_composite(*operations, attention))
      return attention_workspace(attention);
  }
  char key[sizeof NamedFact::key];
  char *at = key, *end = key + sizeof key;
  add(at, end, "graph");
  if (operations)
    for (const BackendValuePointer& operation : operations->nested) add(at, end, " %d", operation->type);
  return named_workspace("graph", key, {});
}

bool has_other_engines(const BackendValue& graph) {
  const BackendAttribute* operations = graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  ConvolutionProblem problem;
  return operations && !operations->nested.empty() && read_fused_convolution(*operations, problem);
}

int64_t recorded_engine(const BackendValue& graph) {
  const BackendAttribute* operations = graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  ConvolutionProblem problem;
  if (!operations || operations->nested.size() != 1 || !read_convolution(*operations->nested[0], problem))
    return 0;
  const ConvolutionFact* fact = cudnn_facts().find(problem);
  return fact && fact->engine >= 0 ? fact->engine : 0;
}

}  // namespace torchmem::vgpu
