#include "engine/inputs.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "capture/dtype.h"
#include "engine/failure.h"
#include "engine/tensor_file.h"

namespace torchmem::engine {
namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;
using nlohmann::json;

struct Context {
  const std::string& signature;
  c10::Device device;
  std::optional<c10::ScalarType> dtype;  // of every floating tensor
  bool channels_last;
};

[[noreturn]] void refuse(const std::string& problem, const std::string& signature) {
  if (signature.empty()) throw Failure(FailureKind::bad_input, problem);
  throw Failure(FailureKind::bad_input, problem + "\nThe model's signature is " + signature,
                {{"signature", signature}});
}

at::Tensor make_tensor(const json& spec, const std::string& place, const Context& context) {
  const std::string type_name = spec.value("dtype", "f32");
  const auto type = capture::parse_dtype(type_name);
  if (!type) refuse(place + " has the unknown type \"" + type_name + "\".", context.signature);
  const auto shape = spec.value("shape", std::vector<std::int64_t>{});
  for (const auto size : shape) {
    if (size < 0)
      refuse(place + " has a negative dimension: " + std::to_string(size) + ".", context.signature);
  }
  const bool converted = context.dtype && c10::isFloatingType(*type);
  const auto options = at::TensorOptions().dtype(converted ? *context.dtype : *type).device(context.device);
  const std::string fill = spec.value("fill", "zeros");
  if (fill == "randn") return at::randn(shape, options);
  if (fill == "zeros") return at::zeros(shape, options);
  if (fill == "ones") return at::ones(shape, options);
  if (fill == "below") return at::randint(0, spec.at("below").get<std::int64_t>(), shape, options);
  if (fill == "value") {
    const auto& value = spec.at("value");
    if (value.is_boolean()) return at::full(shape, value.get<bool>(), options);
    if (value.is_number_integer()) return at::full(shape, value.get<std::int64_t>(), options);
    return at::full(shape, value.get<double>(), options);
  }
  if (fill == "arange") {
    std::int64_t elements = 1;
    for (const auto size : shape) elements *= size;
    return at::arange(elements, options).reshape(shape);
  }
  refuse(place + " has the unknown fill \"" + fill + "\".", context.signature);
}

// What the value is, in the words of a signature.
std::string describe(const json& value) {
  if (value.contains("tensor")) {
    const auto& tensor = value["tensor"];
    return "a tensor (" + tensor.value("spec", tensor.value("dtype", "f32")) + ")";
  }
  if (value.contains("file")) return "a tensor from " + value["file"].get<std::string>();
  if (value.contains("string")) return "the string \"" + value["string"].get<std::string>() + "\"";
  if (value.contains("list")) return "a list of " + std::to_string(value["list"].size());
  if (value.contains("tuple")) return "a tuple of " + std::to_string(value["tuple"].size());
  if (value.contains("dict")) return "a dict of " + std::to_string(value["dict"].size());
  if (value.contains("scalar"))
    return value["scalar"].is_null() ? "None" : "the scalar " + value["scalar"].dump();
  return value.dump();
}

[[noreturn]] void mismatch(const json& value, const TypePtr& type, const std::string& place,
                           const Context& context) {
  refuse(place + " is " + describe(value) + ", but " + type->annotation_str() + " is expected.",
         context.signature);
}

IValue convert(const json& value, const TypePtr& type, const std::string& place, const Context& context);

at::Tensor convert_tensor(const json& value, const std::string& place, const Context& context) {
  at::Tensor tensor = value.contains("file") ? load_tensor_file(value["file"].get<std::string>(),
                                                                context.device, place, context.signature)
                                             : make_tensor(value["tensor"], place, context);
  if (context.dtype && tensor.is_floating_point()) tensor = tensor.to(*context.dtype);
  if (context.channels_last && tensor.dim() == 4) tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
  return tensor;
}

IValue convert_scalar(const json& value, const TypePtr& type, const std::string& place,
                      const Context& context) {
  const json& scalar = value["scalar"];
  switch (type->kind()) {
    case TypeKind::NoneType:
      if (scalar.is_null()) return {};
      break;
    case TypeKind::BoolType:
      if (scalar.is_boolean()) return scalar.get<bool>();
      break;
    case TypeKind::IntType:
      if (scalar.is_number_integer()) return scalar.get<std::int64_t>();
      break;
    case TypeKind::FloatType:
      if (scalar.is_number()) return scalar.get<double>();
      break;
    case TypeKind::NumberType:
    case TypeKind::AnyType:
      if (scalar.is_null()) return {};
      if (scalar.is_boolean()) return scalar.get<bool>();
      if (scalar.is_number_integer()) return scalar.get<std::int64_t>();
      if (scalar.is_number()) return scalar.get<double>();
      break;
    default:
      break;
  }
  mismatch(value, type, place, context);
}

// A list or tuple of the command line serves for either in the signature.
const json* elements(const json& value) {
  if (value.contains("list")) return &value["list"];
  if (value.contains("tuple")) return &value["tuple"];
  return nullptr;
}

IValue convert_list(const json& value, const TypePtr& type, const std::string& place,
                    const Context& context) {
  const json* items = elements(value);
  if (items == nullptr) mismatch(value, type, place, context);
  const auto element = type->expectRef<c10::ListType>().getElementType();
  c10::impl::GenericList list(element);
  for (std::size_t i = 0; i < items->size(); ++i) {
    list.push_back(convert((*items)[i], element, place + "[" + std::to_string(i) + "]", context));
  }
  return list;
}

IValue convert_tuple(const json& value, const TypePtr& type, const std::string& place,
                     const Context& context) {
  const json* items = elements(value);
  const auto& types = type->expectRef<c10::TupleType>().elements();
  if (items == nullptr || items->size() != types.size()) mismatch(value, type, place, context);
  std::vector<IValue> values;
  for (std::size_t i = 0; i < types.size(); ++i) {
    values.push_back(convert((*items)[i], types[i], place + "[" + std::to_string(i) + "]", context));
  }
  const auto tuple = type->cast<c10::TupleType>();
  if (tuple->schema()) return c10::ivalue::Tuple::createNamed(std::move(values), tuple);
  return c10::ivalue::Tuple::create(std::move(values));
}

IValue convert_dict(const json& value, const TypePtr& type, const std::string& place,
                    const Context& context) {
  if (!value.contains("dict")) mismatch(value, type, place, context);
  const auto& dict_type = type->expectRef<c10::DictType>();
  const auto key_type = dict_type.getKeyType();
  if (key_type->kind() != TypeKind::StringType) {
    refuse(
        place + " has the type " + type->annotation_str() + "; only dictionaries with str keys can be given.",
        context.signature);
  }
  c10::impl::GenericDict dict(key_type, dict_type.getValueType());
  for (const auto& [key, item] : value["dict"].items()) {
    dict.insert(key, convert(item, dict_type.getValueType(), place + "[\"" + key + "\"]", context));
  }
  return dict;
}

// The first member of the union (Optional is one) that takes the value.
IValue convert_union(const json& value, const TypePtr& type, const std::string& place,
                     const Context& context) {
  if (value.contains("scalar") && value["scalar"].is_null()) return {};
  for (const auto& member : type->expectRef<c10::UnionType>().containedTypes()) {
    if (member->kind() == TypeKind::NoneType) continue;
    try {
      return convert(value, member, place, context);
    } catch (const Failure&) {
      // try the next one
    }
  }
  mismatch(value, type, place, context);
}

IValue convert_any(const json& value, const TypePtr& type, const std::string& place, const Context& context) {
  if (value.contains("tensor") || value.contains("file")) return convert_tensor(value, place, context);
  if (value.contains("scalar")) return convert_scalar(value, type, place, context);
  if (value.contains("string")) return value["string"].get<std::string>();
  mismatch(value, type, place, context);
}

IValue convert(const json& value, const TypePtr& type, const std::string& place, const Context& context) {
  switch (type->kind()) {
    case TypeKind::TensorType:
      if (!value.contains("tensor") && !value.contains("file")) mismatch(value, type, place, context);
      return convert_tensor(value, place, context);
    case TypeKind::OptionalType: {
      if (value.contains("scalar") && value["scalar"].is_null()) return {};
      return convert(value, type->expectRef<c10::OptionalType>().getElementType(), place, context);
    }
    case TypeKind::UnionType:
      return convert_union(value, type, place, context);
    case TypeKind::ListType:
      return convert_list(value, type, place, context);
    case TypeKind::TupleType:
      return convert_tuple(value, type, place, context);
    case TypeKind::DictType:
      return convert_dict(value, type, place, context);
    case TypeKind::StringType:
      if (!value.contains("string")) mismatch(value, type, place, context);
      return value["string"].get<std::string>();
    case TypeKind::DeviceObjType:
      if (!value.contains("string")) mismatch(value, type, place, context);
      return c10::Device(value["string"].get<std::string>());
    case TypeKind::AnyType:
      return convert_any(value, type, place, context);
    default:
      if (!value.contains("scalar")) mismatch(value, type, place, context);
      return convert_scalar(value, type, place, context);
  }
}

// The value as the command line has it.
std::string spec_text(const json& value) {
  if (value.contains("tensor")) return value["tensor"].value("spec", value["tensor"].value("dtype", "f32"));
  if (value.contains("file")) return "@" + value["file"].get<std::string>();
  if (value.contains("string")) return value["string"].dump();
  if (value.contains("scalar")) return value["scalar"].dump();
  std::string text;
  if (value.contains("dict")) {
    for (const auto& [key, item] : value["dict"].items())
      text += (text.empty() ? "" : ", ") + key + ": " + spec_text(item);
    return "{" + text + "}";
  }
  if (const json* items = elements(value)) {
    for (const auto& item : *items) text += (text.empty() ? "" : ", ") + spec_text(item);
  }
  return value.contains("tuple") ? "(" + text + ")" : "[" + text + "]";
}

std::string plural(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

InputBuilder::InputBuilder(const RunRequest& request, const Arguments& given, const Model& model,
                           c10::Device device)
    : request_(request), signature_(model.signature()), device_(device) {
  auto arguments = model.arguments();
  if (given.positional.size() > arguments.size()) {
    refuse(plural(given.positional.size(), "input") + " given, but the model takes " +
               plural(arguments.size(), "argument") + ".",
           signature_);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    slots_.push_back({std::move(arguments[i]), i < given.positional.size() ? &given.positional[i] : nullptr});
  }
  for (const auto& [name, value] : given.named) {
    const auto slot =
        std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.argument.name() == name; });
    if (slot == slots_.end()) refuse("The model has no argument \"" + name + "\".", signature_);
    if (slot->value != nullptr)
      refuse("The argument \"" + name + "\" is given twice, by position and by name.", signature_);
    slot->value = &value;
  }
  for (const auto& slot : slots_) {
    if (slot.value == nullptr && !slot.argument.default_value()) {
      refuse("No input is given for the argument \"" + slot.argument.name() + "\" (" +
                 slot.argument.type()->annotation_str() + ").",
             signature_);
    }
  }
}

std::string InputBuilder::call() const {
  std::string text;
  for (const auto& slot : slots_) {
    if (slot.value == nullptr) continue;
    const std::string name = slot.argument.name() + "=";
    std::string spec = spec_text(*slot.value);
    if (!spec.starts_with(name)) spec.insert(0, name);  // it may have been given with its name
    text += (text.empty() ? "" : ", ") + spec;
  }
  return request_.method + "(" + text + ")";
}

std::vector<std::string> InputBuilder::names() const {
  std::vector<std::string> names;
  for (const auto& slot : slots_) names.push_back(slot.argument.name());
  return names;
}

std::vector<IValue> InputBuilder::build() const {
  std::optional<c10::ScalarType> dtype;
  if (request_.dtype) dtype = capture::parse_dtype(*request_.dtype);
  const Context context{signature_, device_, dtype, request_.channels_last};
  std::vector<IValue> values;
  for (const auto& slot : slots_) {
    if (slot.value == nullptr) {
      values.push_back(*slot.argument.default_value());
    } else {
      values.push_back(convert(*slot.value, slot.argument.type(),
                               "The argument \"" + slot.argument.name() + "\"", context));
    }
  }
  return values;
}

at::Tensor make_input_tensor(const json& value, c10::Device device) {
  const std::string no_signature;
  return convert_tensor(value, "The input", {no_signature, device, std::nullopt, false});
}

}  // namespace torchmem::engine
