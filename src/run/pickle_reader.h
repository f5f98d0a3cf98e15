// Reads the plain data in a Python pickle: None, booleans, integers of 64 bits, floats, strings, bytes,
// lists, tuples and dicts, protocols 2 to 5. It never acts on what a pickle asks to import, call or build:
// such a pickle is refused. Memory is bounded by a small multiple of the pickle's size, and no depth of
// nesting or cycle harms it.
#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace torchmem {

class PickleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct PickleContainer;

// A value of 24 bytes. Strings point into the pickle's own bytes, containers into the Pickle that they came
// from.
class PickleValue {
 public:
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    unsigned_integer,
    real,
    string,
    list,
    tuple,
    dict,
    mark
  };

  PickleValue() = default;
  static PickleValue of(bool value);
  static PickleValue of(int64_t value);
  static PickleValue of(uint64_t value);  // for what int64_t cannot hold
  static PickleValue of(double value);
  static PickleValue of(std::string_view value);
  static PickleValue of(Kind kind, PickleContainer* container);
  static PickleValue of_mark();

  Kind kind() const { return kind_; }
  bool is_dict() const { return kind_ == Kind::dict; }
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }
  bool is_string() const { return kind_ == Kind::string; }

  bool boolean() const { return boolean_; }
  int64_t integer() const { return integer_; }
  uint64_t unsigned_integer() const { return unsigned_; }
  double real() const { return real_; }
  std::string_view string() const { return {text_, length_}; }
  // The elements of a list or tuple; of a dict key, value, key, value, ...
  const std::vector<PickleValue>& items() const;
  PickleContainer* container() const { return container_; }

  // The value of a string key of a dict (the last one that was set); null when this is not a dict or has no
  // such key.
  const PickleValue* find(std::string_view key) const;

 private:
  Kind kind_ = Kind::none;
  size_t length_ = 0;
  union {
    bool boolean_;
    int64_t integer_;
    uint64_t unsigned_;
    double real_;
    const char* text_;
    PickleContainer* container_ = nullptr;
  };
};

struct PickleContainer {
  std::vector<PickleValue> items;
};

// Owns the containers of one pickle; the bytes it was read from must outlive it.
class Pickle {
 public:
  // Throws PickleError saying what is wrong and at which byte.
  explicit Pickle(std::string_view bytes);
  const PickleValue& root() const { return root_; }

 private:
  friend class PickleMachine;
  std::deque<PickleContainer> containers_;
  PickleValue root_;
};

}  // namespace torchmem
