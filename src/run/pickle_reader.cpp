#include "run/pickle_reader.h"

#include <spdlog/fmt/fmt.h>

#include <bit>
#include <cstring>
#include <unordered_map>

#include "run/pickle_opcodes.h"

namespace torchmem {

using Kind = PickleValue::Kind;

PickleValue PickleValue::of(bool value) {
  PickleValue result;
  result.kind_ = Kind::boolean;
  result.boolean_ = value;
  return result;
}

PickleValue PickleValue::of(int64_t value) {
  PickleValue result;
  result.kind_ = Kind::integer;
  result.integer_ = value;
  return result;
}

PickleValue PickleValue::of(uint64_t value) {
  PickleValue result;
  result.kind_ = Kind::unsigned_integer;
  result.unsigned_ = value;
  return result;
}

PickleValue PickleValue::of(double value) {
  PickleValue result;
  result.kind_ = Kind::real;
  result.real_ = value;
  return result;
}

PickleValue PickleValue::of(std::string_view value) {
  PickleValue result;
  result.kind_ = Kind::string;
  result.text_ = value.data();
  result.length_ = value.size();
  return result;
}

PickleValue PickleValue::of(Kind kind, PickleContainer* container) {
  PickleValue result;
  result.kind_ = kind;
  result.container_ = container;
  return result;
}

PickleValue PickleValue::of_mark() {
  PickleValue result;
  result.kind_ = Kind::mark;
  return result;
}

const std::vector<PickleValue>& PickleValue::items() const {
  static const std::vector<PickleValue> nothing;
  return is_sequence() || is_dict() ? container_->items : nothing;
}

const PickleValue* PickleValue::find(std::string_view key) const {
  if (!is_dict()) return nullptr;
  const std::vector<PickleValue>& pairs = container_->items;
  for (size_t i = pairs.size(); i >= 2; i -= 2) {
    if (pairs[i - 2].is_string() && pairs[i - 2].string() == key) return &pairs[i - 1];
  }
  return nullptr;
}

class PickleMachine {
 public:
  PickleMachine(Pickle& pickle, std::string_view bytes) : pickle_(pickle), bytes_(bytes) {}

  void run() {
    while (step()) {
    }
    if (stack_.size() != 1 || stack_.back().kind() == Kind::mark) fail("it ends with values left over");
    pickle_.root_ = stack_.back();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw PickleError(fmt::format("{} (at byte {})", what, start_));
  }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - position_) fail("it is cut short");
    std::string_view taken = bytes_.substr(position_, size);
    position_ += size;
    return taken;
  }

  // A little-endian number of that many bytes.
  uint64_t number(size_t size) {
    uint64_t value = 0;
    std::string_view digits = take(size);
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(digits[i]);
    return value;
  }

  void push(PickleValue value) { stack_.push_back(value); }

  PickleValue pop() {
    if (stack_.empty() || stack_.back().kind() == Kind::mark) fail("a value is missing");
    PickleValue value = stack_.back();
    stack_.pop_back();
    return value;
  }

  PickleValue& top() {
    if (stack_.empty() || stack_.back().kind() == Kind::mark) fail("a value is missing");
    return stack_.back();
  }

  // The values above the last mark, which goes too.
  std::vector<PickleValue> pop_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    size_t mark = marks_.back();
    marks_.pop_back();
    std::vector<PickleValue> values(stack_.begin() + static_cast<ptrdiff_t>(mark) + 1, stack_.end());
    stack_.resize(mark);
    return values;
  }

  PickleValue make(Kind kind, std::vector<PickleValue> items) {
    if (kind == Kind::dict && items.size() % 2 != 0) fail("a dict has a key without a value");
    pickle_.containers_.push_back({std::move(items)});
    return PickleValue::of(kind, &pickle_.containers_.back());
  }

  void make_tuple(size_t size) {
    std::vector<PickleValue> items(size);
    for (size_t i = size; i-- > 0;) items[i] = pop();
    push(make(Kind::tuple, std::move(items)));
  }

  // `source` is by value: it may hold the very container that it is added to.
  void extend(Kind kind, const std::vector<PickleValue>& source) {
    PickleValue& target = top();
    if (target.kind() != kind)
      fail(kind == Kind::dict ? "it sets items of no dict" : "it appends to no list");
    if (kind == Kind::dict && source.size() % 2 != 0) fail("a dict has a key without a value");
    std::vector<PickleValue>& items = target.container()->items;
    items.insert(items.end(), source.begin(), source.end());
  }

  void push_long(size_t size) {
    if (size > 9) fail("it holds a number of more than 64 bits");
    std::string_view digits = take(size);
    bool negative = size > 0 && (static_cast<uint8_t>(digits[size - 1]) & 0x80) != 0;
    uint64_t value = negative ? ~0ull : 0;
    for (size_t i = std::min<size_t>(size, 8); i-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(digits[i]);
    }
    if (size == 9) {
      if (static_cast<uint8_t>(digits[8]) != 0) fail("it holds a number of more than 64 bits");
      return push(value >> 63 ? PickleValue::of(value) : PickleValue::of(static_cast<int64_t>(value)));
    }
    push(PickleValue::of(static_cast<int64_t>(value)));
  }

  void put(uint64_t key) { memo_[key] = top(); }

  void get(uint64_t key) {
    auto found = memo_.find(key);
    if (found == memo_.end()) fail("it refers to a value that it did not give");
    push(found->second);
  }

  bool step();
  void step_scalar(uint8_t code);
  void step_text(uint8_t code);
  void step_container(uint8_t code);
  [[noreturn]] void refuse(uint8_t code);

  Pickle& pickle_;
  std::string_view bytes_;
  size_t position_ = 0;
  size_t start_ = 0;  // of the opcode at hand
  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue> memo_;
};

bool PickleMachine::step() {
  start_ = position_;
  auto code = static_cast<uint8_t>(take(1)[0]);
  if (code == opcode::stop) return false;
  step_scalar(code);
  return true;
}

// Each of these does one kind of opcode and leaves the others to the next.
void PickleMachine::step_scalar(uint8_t code) {
  switch (code) {
    case opcode::proto:
      if (uint64_t version = number(1); version < 2 || version > 5) {
        fail(fmt::format("pickle protocol {}, expected 2 to 5", version));
      }
      return;
    case opcode::frame:
      number(8);
      return;
    case opcode::none:
      return push(PickleValue());
    case opcode::new_true:
      return push(PickleValue::of(true));
    case opcode::new_false:
      return push(PickleValue::of(false));
    case opcode::bin_int:
      return push(PickleValue::of(static_cast<int64_t>(static_cast<int32_t>(number(4)))));
    case opcode::bin_int1:
      return push(PickleValue::of(static_cast<int64_t>(number(1))));
    case opcode::bin_int2:
      return push(PickleValue::of(static_cast<int64_t>(number(2))));
    case opcode::long1:
      return push_long(number(1));
    case opcode::long4:
      return push_long(number(4));
    case opcode::bin_float: {
      uint64_t bits = 0;
      for (char digit : take(8)) bits = bits << 8 | static_cast<uint8_t>(digit);
      return push(PickleValue::of(std::bit_cast<double>(bits)));
    }
    default:
      return step_text(code);
  }
}

void PickleMachine::step_text(uint8_t code) {
  switch (code) {
    case opcode::short_bin_unicode:
    case opcode::short_bin_bytes:
    case opcode::short_bin_string:
      return push(PickleValue::of(take(number(1))));
    case opcode::bin_unicode:
    case opcode::bin_bytes:
    case opcode::bin_string:
      return push(PickleValue::of(take(number(4))));
    case opcode::bin_unicode8:
    case opcode::bin_bytes8:
    case opcode::bytearray8:
      return push(PickleValue::of(take(number(8))));
    case opcode::bin_get:
      return get(number(1));
    case opcode::long_bin_get:
      return get(number(4));
    case opcode::bin_put:
      return put(number(1));
    case opcode::long_bin_put:
      return put(number(4));
    case opcode::memoize:
      return put(memo_.size());
    default:
      return step_container(code);
  }
}

void PickleMachine::step_container(uint8_t code) {
  switch (code) {
    case opcode::mark:
      marks_.push_back(stack_.size());
      return push(PickleValue::of_mark());
    case opcode::pop:
      pop();
      return;
    case opcode::pop_mark:
      pop_to_mark();
      return;
    case opcode::dup:
      return push(PickleValue(top()));
    case opcode::empty_list:
      return push(make(Kind::list, {}));
    case opcode::empty_tuple:
      return push(make(Kind::tuple, {}));
    case opcode::empty_dict:
      return push(make(Kind::dict, {}));
    case opcode::list:
      return push(make(Kind::list, pop_to_mark()));
    case opcode::tuple:
      return push(make(Kind::tuple, pop_to_mark()));
    case opcode::dict:
      return push(make(Kind::dict, pop_to_mark()));
    case opcode::tuple1:
      return make_tuple(1);
    case opcode::tuple2:
      return make_tuple(2);
    case opcode::tuple3:
      return make_tuple(3);
    case opcode::append: {
      PickleValue value = pop();
      extend(Kind::list, {value});
      return;
    }
    case opcode::appends:
      return extend(Kind::list, pop_to_mark());
    case opcode::set_item: {
      PickleValue value = pop();
      PickleValue key = pop();
      extend(Kind::dict, {key, value});
      return;
    }
    case opcode::set_items:
      return extend(Kind::dict, pop_to_mark());
    default:
      refuse(code);
  }
}

void PickleMachine::refuse(uint8_t code) {
  switch (code) {
    case opcode::global: {
      std::string_view rest = bytes_.substr(position_).substr(0, 200);
      size_t end = rest.find('\n');
      std::string_view module = rest.substr(0, end);
      std::string_view name = end == std::string_view::npos ? "" : rest.substr(end + 1);
      name = name.substr(0, name.find('\n'));
      fail(fmt::format("it asks to import {}.{}, which a memory snapshot never does; nothing was imported",
                       module, name));
    }
    case opcode::stack_global:
    case opcode::reduce:
    case opcode::build:
    case opcode::inst:
    case opcode::obj:
    case opcode::new_obj:
    case opcode::new_obj_ex:
    case opcode::ext1:
    case opcode::ext2:
    case opcode::ext4:
    case opcode::pers_id:
    case opcode::bin_pers_id:
      fail("it asks to import or call something, which a memory snapshot never does; nothing was called");
    default:
      fail(fmt::format("it holds something that is not plain data (opcode {})", code));
  }
}

Pickle::Pickle(std::string_view bytes) { PickleMachine(*this, bytes).run(); }

}  // namespace torchmem
