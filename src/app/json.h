/// Numbers in the program's JSON files.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace penumbra::app {

/// NaN and infinity have no JSON: null says "not a number".
inline nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace penumbra::app
