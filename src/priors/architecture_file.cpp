#include "priors/architecture_file.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/nearest.h"
#include "core/yaml.h"
#include "io/file.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* base_key = "_BASE_";
constexpr size_t longest_chain = 8;  // of bases; a longer one is a circle
constexpr int deepest = 64;          // nlohmann::json copies and writes by recursion

json from_scalar(const yaml::Value& value) {
  if (value.kind == yaml::Kind::quoted) return value.text;
  for (const auto* word : {"true", "True", "TRUE"})
    if (value.text == word) return true;
  for (const auto* word : {"false", "False", "FALSE"})
    if (value.text == word) return false;
  if (const auto whole = yaml::as_integer(value)) return *whole;
  if (const auto number = yaml::as_number(value)) return *number;
  return value.text;
}

json from_yaml(const yaml::Value& value) {
  switch (value.kind) {
    case yaml::Kind::null:
      return nullptr;
    case yaml::Kind::list: {
      auto list = json::array();
      for (const auto& item : value.items) list.push_back(from_yaml(*item));
      return list;
    }
    case yaml::Kind::map: {
      auto object = json::object();
      for (const auto& [key, member] : value.entries) object[key] = from_yaml(*member);
      return object;
    }
    default:
      return from_scalar(value);
  }
}

json read_json(const fs::path& path) {
  const auto check_depth = [&](int depth, json::parse_event_t, json&) {
    if (depth > deepest) input_error("{}: expected at most {} levels", path.string(), deepest);
    return true;
  };
  auto object = json::parse(io::read_file(path), check_depth, false);
  if (object.is_discarded()) input_error("{}: expected JSON (or YAML in a file named .yaml)", path.string());
  return object;
}

json read_yaml(const fs::path& path, std::vector<fs::path>& bases) {
  auto object = from_yaml(*yaml::parse(io::read_file(path), path.string()));
  if (!object.is_object() || !object.contains(base_key)) return object;
  const auto base = object[base_key];
  if (!base.is_string()) input_error("{}: {}: expected the path of a file", path.string(), base_key);
  const auto file = path.parent_path() / base.get<std::string>();
  if (!fs::is_regular_file(file))
    input_error("{}: {}: expected an existing file, found {}", path.string(), base_key,
                excerpt(base.get<std::string>()));
  if (bases.size() == longest_chain)
    input_error("{}: {}: expected at most {} files one upon another", path.string(), base_key, longest_chain);
  object.erase(base_key);
  bases.push_back(file.lexically_normal());
  auto whole = read_yaml(file, bases);
  if (!whole.is_object()) input_error("{}: expected keys and values at the top", file.string());
  whole.update(object, true);
  return whole;
}

}  // namespace

json read_architecture(const fs::path& path, std::vector<fs::path>& bases) {
  const auto extension = path.extension();
  auto options = extension == ".yaml" || extension == ".yml" ? read_yaml(path, bases) : read_json(path);
  for (const auto* key : {"model", "score_fn", "config", "architecture"})
    if (options.is_object() && options.contains(key) && options[key].is_object()) options = json(options[key]);
  if (!options.is_object())
    input_error("{}: expected an object of options, found {}", path.string(), options.type_name());
  return options;
}

}  // namespace penumbra
