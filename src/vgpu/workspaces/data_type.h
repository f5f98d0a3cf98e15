#pragma once

#include <cstddef>
#include <cstdint>

namespace torchmem::vgpu {

// cudnnDataType_t by the names that facts use. Numbers: cuDNN's public header cudnn_graph.h.
struct DataType {
  uint8_t number;
  uint8_t bytes;
  const char* name;
};

inline constexpr DataType data_types[] = {
    {0, 4, "f32"},  {1, 8, "f64"},  {2, 2, "f16"},   {3, 1, "i8"},       {4, 4, "i32"},     {6, 1, "u8"},
    {9, 2, "bf16"}, {10, 8, "i64"}, {11, 1, "bool"}, {12, 1, "f8_e4m3"}, {13, 1, "f8_e5m2"}};

// nullptr when cuDNN's number has no name here.
inline const DataType* data_type(int64_t number) {
  for (const DataType& type : data_types)
    if (type.number == number) return &type;
  return nullptr;
}

inline const char* data_type_name(int64_t number) {
  const DataType* type = data_type(number);
  return type ? type->name : "?";
}

inline size_t data_type_bytes(int64_t number) {
  const DataType* type = data_type(number);
  return type ? type->bytes : 0;
}

}  // namespace torchmem::vgpu
