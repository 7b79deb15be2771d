/// YAML text as a plain tree: no sharing, no cycles, bounded in depth and in size whatever the text says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penumbra::yaml {

struct Value;
using ValuePtr = std::shared_ptr<Value>;

enum class Kind { null, plain, quoted, list, map };

struct Entry {
  std::string key;
  ValuePtr value;
};

struct Value {
  Kind kind = Kind::null;
  int line = 0;  ///< from 1, of the key where there is one; 0: the line is not known
  std::string text;
  std::vector<ValuePtr> items;
  std::vector<Entry> entries;

  const Entry* find(const std::string& key) const;
};

/// Throws InputError "name:line: ..." on anything but one well-formed document; an empty one is null.
ValuePtr parse(const std::string& text, const std::string& name);

/// A plain scalar as a finite number, in the notation of YAML's core schema (decimal).
std::optional<double> as_number(const Value& value);

/// A whole number: exact digits, or an integral decimal such as 1e3.
std::optional<int64_t> as_integer(const Value& value);

/// The text as a YAML scalar that reads back as the same text, quoted where needed.
std::string format_text(const std::string& text);

/// The tree as one line that parses to the same tree: {a: 1, b: [x, "2"]}.
std::string format_flow(const Value& value);

/// "a list", "3", for messages.
std::string describe(const Value& value);

}  // namespace penumbra::yaml
