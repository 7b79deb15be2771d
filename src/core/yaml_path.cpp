#include "core/yaml_path.h"

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::yaml {
namespace {

constexpr size_t most_path_parts = 64;

}  // namespace

void set_line(Value& value, int line) {
  value.line = line;
  for (const auto& item : value.items) set_line(*item, line);
  for (const auto& entry : value.entries) set_line(*entry.value, line);
}

std::vector<std::string> split_path(const std::string& path, const std::string& assignment) {
  std::vector<std::string> parts(1);
  for (const char c : path)
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  for (const auto& part : parts)
    if (part.empty())
      input_error("--set {}: expected key=value with a key like sampler.step_size", excerpt(assignment));
  if (parts.size() > most_path_parts) input_error("--set {}: the key has too many parts", excerpt(assignment));
  return parts;
}

ValuePtr& member(Value& parent, const std::string& part, const std::string& assignment) {
  if (parent.kind == Kind::null) parent.kind = Kind::map;
  if (parent.kind == Kind::map) {
    for (auto& entry : parent.entries)
      if (entry.key == part) return entry.value;
    return parent.entries.emplace_back(Entry{part, std::make_shared<Value>()}).value;
  }
  if (parent.kind != Kind::list)
    input_error("--set {}: {} is below a single value, {}; expected a section there", excerpt(assignment),
                excerpt(part), describe(parent));
  Value number;
  number.kind = Kind::plain;
  number.text = part;
  const auto index = as_integer(number);
  if (!index || *index < 0 || static_cast<size_t>(*index) >= parent.items.size())
    input_error("--set {}: {}: expected a member from 0 to {} of the list", excerpt(assignment), excerpt(part),
                static_cast<int64_t>(parent.items.size()) - 1);
  return parent.items[*index];
}

}  // namespace penumbra::yaml
