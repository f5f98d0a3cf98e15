#include "numbers.h"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace torchmem::vgpu::nccl {
namespace {

float float_of_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// How a type is stored and what is computed with it.
template <class Number>
struct Plain {
  using Stored = Number;
  using Wide = Number;
  static Wide widen(Stored stored) { return stored; }
  static Stored narrow(Wide wide) { return wide; }
};

struct Brain {  // bfloat16: the upper half of a float
  using Stored = uint16_t;
  using Wide = float;
  static Wide widen(Stored stored) { return float_of_bits(uint32_t{stored} << 16); }
  static Stored narrow(Wide wide) {
    uint32_t bits = bits_of(wide);
    if (std::isnan(wide)) return static_cast<Stored>((bits >> 16) | 0x40);
    return static_cast<Stored>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);  // to nearest, ties to even
  }
};

struct Half {
  using Stored = uint16_t;
  using Wide = float;
  static constexpr float least_normal = 0x1p-14f;
  static constexpr float subnormal_step = 0x1p-24f;
  static Wide widen(Stored stored) {
    uint32_t sign = uint32_t{stored & 0x8000u} << 16, exponent = (stored >> 10) & 31u,
             fraction = stored & 1023u;
    if (exponent == 31) return float_of_bits(sign | 0x7f800000u | fraction << 13);
    float size = exponent == 0 ? static_cast<float>(fraction) * subnormal_step
                               : float_of_bits((exponent + 112) << 23 | fraction << 13);
    return sign ? -size : size;
  }
  static Stored narrow(Wide wide) {
    uint32_t sign = bits_of(wide) >> 16 & 0x8000u;
    if (std::isnan(wide)) return static_cast<Stored>(sign | 0x7e00u);
    float size = std::fabs(wide);
    if (size < least_normal)
      return static_cast<Stored>(sign | static_cast<uint32_t>(std::rint(size / subnormal_step)));
    uint32_t bits = bits_of(size);
    bits += 0xfff + ((bits >> 13) & 1);  // to nearest, ties to even
    return static_cast<Stored>(bits >= 0x47800000u ? sign | 0x7c00u : sign | ((bits >> 13) - (112u << 10)));
  }
};

template <class Wide>
Wide combine(Wide a, Wide b, int kind) {
  if constexpr (std::is_floating_point_v<Wide>) {
    switch (kind) {
      case reduction_product:
        return a * b;
      case reduction_max:
        return std::fmax(a, b);
      case reduction_min:
        return std::fmin(a, b);
      default:
        return a + b;
    }
  } else {
    // Unsigned 64-bit arithmetic wraps as every narrower type does.
    switch (kind) {
      case reduction_product:
        return static_cast<Wide>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      case reduction_max:
        return a > b ? a : b;
      case reduction_min:
        return a < b ? a : b;
      default:
        return static_cast<Wide>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
  }
}

template <class Wide>
Wide divide(Wide sum, size_t ranks) {
  if constexpr (std::is_floating_point_v<Wide>)
    return sum / static_cast<Wide>(ranks);
  else if constexpr (std::is_signed_v<Wide>)
    return static_cast<Wide>(static_cast<int64_t>(sum) / static_cast<int64_t>(ranks));
  else
    return static_cast<Wide>(sum / ranks);
}

template <class Type>
typename Type::Wide element(const void* values, size_t index) {
  typename Type::Stored stored;
  std::memcpy(&stored, static_cast<const char*>(values) + index * sizeof stored, sizeof stored);
  return Type::widen(stored);
}

template <class Type>
void put(void* values, size_t index, typename Type::Wide wide) {
  typename Type::Stored stored = Type::narrow(wide);
  std::memcpy(static_cast<char*>(values) + index * sizeof stored, &stored, sizeof stored);
}

template <class Type>
void reduce_as(const std::vector<const void*>& contributions, void* to, size_t count, int kind) {
  using Wide = typename Type::Wide;
  for (size_t i = 0; i < count; ++i) {
    Wide result = element<Type>(contributions[0], i);
    for (size_t rank = 1; rank < contributions.size(); ++rank)
      result = combine(result, element<Type>(contributions[rank], i), kind);
    if (kind == reduction_average) result = divide(result, contributions.size());
    put<Type>(to, i, result);
  }
}

template <class Type>
void scale_as(void* values, size_t count, const void* scalar) {
  for (size_t i = 0; i < count; ++i)
    put<Type>(values, i, combine(element<Type>(values, i), element<Type>(scalar, 0), reduction_product));
}

// Calls `work` with how the type is stored.
template <class Work>
bool with_type(int type, Work&& work) {
  switch (type) {
    case int8:
      work(Plain<int8_t>());
      return true;
    case uint8:
      work(Plain<uint8_t>());
      return true;
    case int32:
      work(Plain<int32_t>());
      return true;
    case uint32:
      work(Plain<uint32_t>());
      return true;
    case int64:
      work(Plain<int64_t>());
      return true;
    case uint64:
      work(Plain<uint64_t>());
      return true;
    case float16:
      work(Half());
      return true;
    case float32:
      work(Plain<float>());
      return true;
    case float64:
      work(Plain<double>());
      return true;
    case bfloat16:
      work(Brain());
      return true;
    default:
      return false;
  }
}

}  // namespace

size_t element_bytes(int type) {
  constexpr size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  bool known = type >= 0 && static_cast<size_t>(type) < sizeof bytes / sizeof *bytes;
  return known ? bytes[type] : 8;
}

bool reduce(const std::vector<const void*>& contributions, void* to, size_t count, int type, int kind) {
  return with_type(type, [&](auto as) { reduce_as<decltype(as)>(contributions, to, count, kind); });
}

bool scale(void* values, size_t count, int type, const void* scalar) {
  return with_type(type, [&](auto as) { scale_as<decltype(as)>(values, count, scalar); });
}

}  // namespace torchmem::vgpu::nccl
