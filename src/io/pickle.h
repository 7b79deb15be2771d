/// Python pickles of protocol 2 to 5, read as data. Nothing is imported, called or built: a class or a function is its
/// name, a call is that name with its arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penumbra::io {

/// An index into Pickle::values. Values may contain each other to any depth and in circles: nothing may recurse on
/// them.
using ValueId = uint32_t;

struct Value {
  enum class Kind {
    none,
    boolean,
    integer,
    big_integer,  ///< above 64 bits; `text` holds its bytes, little endian
    real,         ///< without its value, which no tensor needs
    text,
    bytes,
    tuple,
    list,        ///< or a set
    dictionary,  ///< `items` are key, value, key, value, ...; of two equal keys the later one counts
    global,      ///< a class or a function; `items` are its module and its name
    object,      ///< what a call would have made; `items` are the pairs that were set on it, as in a dictionary
    persistent   ///< stands for something outside the pickle; items[0] says what
  };

  Kind kind = Kind::none;
  ValueId callable = 0, arguments = 0;  ///< of an object
  int64_t integer = 0;                  ///< of a boolean too
  std::string_view text;                ///< where it lies in the pickle
  std::vector<ValueId> items;
};

struct Pickle {
  std::vector<Value> values;
  ValueId root = 0;
  size_t size = 0;  ///< bytes, with the final STOP: another pickle may follow

  const Value& operator[](ValueId id) const { return values[id]; }
};

/// Reads the pickle at the beginning of the bytes, which must outlive it. Throws InputError, with `name` for the file,
/// on anything else. Takes time and memory in proportion to the bytes, and at most 2^22 values.
Pickle parse_pickle(std::string_view bytes, const std::string& name);

/// "module.name" of a global; empty for every other value.
std::string global_name(const Pickle& pickle, ValueId id);

/// "a list", "an object of argparse.Namespace", for messages.
std::string describe_value(const Pickle& pickle, ValueId id);

}  // namespace penumbra::io
