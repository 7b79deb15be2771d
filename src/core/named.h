/// Looking a registered thing up by the name that configurations and the command line use.
#pragma once

#include <string>
#include <vector>

namespace penumbra {

template <typename Entry>
const Entry* find_named(const std::vector<const Entry*>& entries, const std::string& name) {
  for (const auto* entry : entries)
    if (entry->name == name) return entry;
  return nullptr;
}

template <typename Entry>
std::vector<std::string> names_of(const std::vector<const Entry*>& entries) {
  std::vector<std::string> names;
  for (const auto* entry : entries) names.emplace_back(entry->name);
  return names;
}

}  // namespace penumbra
