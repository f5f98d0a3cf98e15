#include "run/pickle_json.h"

#include "run/utf8.h"

namespace torchmem {

using nlohmann::json;
using Kind = PickleValue::Kind;

namespace {

constexpr int max_depth = 64;
// A value may be referred to many times: without a limit a small pickle could unfold into an endless
// document.
constexpr size_t max_values = 5'000'000;

json convert(const PickleValue& value, int depth, size_t& budget) {
  if (depth > max_depth) throw PickleError("values are nested deeper than " + std::to_string(max_depth));
  if (budget == 0) throw PickleError("there are more than " + std::to_string(max_values) + " values");
  --budget;
  switch (value.kind()) {
    case Kind::boolean:
      return value.boolean();
    case Kind::integer:
      return value.integer();
    case Kind::unsigned_integer:
      return value.unsigned_integer();
    case Kind::real:
      return value.real();
    case Kind::string:
      return valid_utf8(value.string());
    case Kind::list:
    case Kind::tuple: {
      json array = json::array();
      for (const PickleValue& item : value.items()) array.push_back(convert(item, depth + 1, budget));
      return array;
    }
    case Kind::dict: {
      json object = json::object();
      const auto& items = value.items();
      for (size_t i = 0; i + 1 < items.size(); i += 2) {
        const PickleValue& key = items[i];
        if (!key.is_string() && key.kind() != Kind::integer)
          throw PickleError("a dict's key is neither text nor number");
        std::string name = key.is_string() ? valid_utf8(key.string()) : std::to_string(key.integer());
        object[name] = convert(items[i + 1], depth + 1, budget);
      }
      return object;
    }
    case Kind::none:
    case Kind::mark:
      break;
  }
  return nullptr;
}

}  // namespace

json json_from(const PickleValue& value) {
  size_t budget = max_values;
  return convert(value, 0, budget);
}

void write_json(PickleWriter& writer, const json& value) {
  switch (value.type()) {
    case json::value_t::boolean:
      return writer.boolean(value.get<bool>());
    case json::value_t::number_integer:
      return writer.integer(value.get<int64_t>());
    case json::value_t::number_unsigned:
      return writer.unsigned_integer(value.get<uint64_t>());
    case json::value_t::number_float:
      return writer.real(value.get<double>());
    case json::value_t::string:
      return writer.string(value.get_ref<const std::string&>());
    case json::value_t::array:
      writer.begin_list();
      for (const json& item : value) write_json(writer, item);
      return writer.end_list();
    case json::value_t::object:
      writer.begin_dict();
      for (const auto& [name, item] : value.items()) {
        writer.string(name);
        write_json(writer, item);
      }
      return writer.end_dict();
    case json::value_t::null:
    case json::value_t::binary:
    case json::value_t::discarded:
      return writer.none();
  }
}

}  // namespace torchmem
