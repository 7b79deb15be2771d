/// Numbers and texts in the program's JSON files.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace penumbra::app {

/// NaN and infinity have no JSON: null says "not a number".
inline nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

/// As a file or a terminal has it. JSON is UTF-8: other bytes of somebody's file name are no reason to lose a result.
inline std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// What is read again of what json_text wrote: to be compared with it.
inline nlohmann::json as_written(const nlohmann::json& value) { return nlohmann::json::parse(json_text(value, -1)); }

}  // namespace penumbra::app
