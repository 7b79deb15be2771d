#include "io/checkpoint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "io/torch_pickle.h"

namespace penumbra::io {
namespace {

using Kind = Value::Kind;

constexpr size_t averages = 5;
/// In the order of preference; the first ones are exponential moving averages.
constexpr std::array<std::string_view, 10> keys{
    "state_dict_ema", "ema_state_dict",   "ema",    "model_ema", "params_ema", "state_dict",
    "model",          "model_state_dict", "params", "net"};

using Candidates = std::array<std::optional<ValueId>, keys.size()>;

Candidates candidates(const Pickle& pickle, ValueId id) {
  Candidates found;
  const auto pairs = entries_of(pickle, id);
  if (!pairs) return found;
  for (const auto& [key, value] : *pairs) {
    if (pickle[key].kind != Kind::text) continue;
    const auto at = std::find(keys.begin(), keys.end(), pickle[key].text) - keys.begin();
    if (static_cast<size_t>(at) < keys.size()) found[at] = value;
  }
  return found;
}

bool holds_tensors(const Pickle& pickle, ValueId id) {
  const auto pairs = entries_of(pickle, id);
  return pairs && std::any_of(pairs->begin(), pairs->end(), [&](auto& pair) {
           return pickle[pair.first].kind == Kind::text && is_tensor(pickle, pair.second);
         });
}

/// The value itself, or what one more key leads to. Not deeper: a dictionary may contain itself.
std::optional<StateDictionary> within(const Pickle& pickle, ValueId id, std::string_view key) {
  const auto inner = candidates(pickle, id);
  for (size_t i = 0; i < keys.size(); ++i)
    if (inner[i] && holds_tensors(pickle, *inner[i]))
      return StateDictionary{*inner[i], fmt::format("{}.{}", key, keys[i]), ""};
  if (holds_tensors(pickle, id)) return StateDictionary{id, std::string(key), ""};
  return {};
}

std::string_view first_part(std::string_view name) { return name.substr(0, name.find('.') + 1); }

}  // namespace

StateDictionary find_state_dictionary(const Pickle& pickle, const std::string& name) {
  const auto outer = candidates(pickle, pickle.root);
  std::string remark;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!outer[i]) continue;
    if (auto found = within(pickle, *outer[i], keys[i])) {
      found->remark = remark;
      return *found;
    }
    if (i < averages && remark.empty()) remark = fmt::format("{} holds no named tensors", keys[i]);
  }
  if (holds_tensors(pickle, pickle.root)) return {pickle.root, "", remark};
  if (pickle[pickle.root].kind == Kind::object && !entries_of(pickle, pickle.root) && !is_tensor(pickle, pickle.root))
    input_error(
        "{}: expected a dictionary of tensors, found {}, which is not executed (of a whole model, save its "
        "state_dict() instead)",
        name, describe_value(pickle, pickle.root));
  input_error("{}: expected a dictionary of tensors, or one under a key such as state_dict, found {}", name,
              is_tensor(pickle, pickle.root) ? "one tensor without a name" : describe_value(pickle, pickle.root));
}

std::string remove_common_prefix(StoredTensors& tensors) {
  std::string removed;
  while (!tensors.empty()) {
    const std::string prefix(first_part(tensors.begin()->first));
    const auto shares = [&](auto& item) { return item.first.size() > prefix.size() && item.first.starts_with(prefix); };
    if (prefix.empty() || !std::all_of(tensors.begin(), tensors.end(), shares)) break;
    StoredTensors shorter;
    while (!tensors.empty()) {
      auto node = tensors.extract(tensors.begin());
      node.key().erase(0, prefix.size());
      shorter.insert(shorter.end(), std::move(node));
    }
    tensors = std::move(shorter);
    removed += prefix;
  }
  return removed;
}

std::string describe_choice(const StateDictionary& dictionary, const std::string& prefix) {
  std::vector<std::string> parts;
  for (const auto& part : {dictionary.path, dictionary.remark})
    if (!part.empty()) parts.push_back(part);
  if (!prefix.empty()) parts.push_back(fmt::format("prefix '{}'", excerpt(prefix)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace penumbra::io
