/// The parameterisation as JSON, apart from its arithmetic: without ATen.h it can be fuzzed.
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "networks/parameterisation.h"

namespace penumbra {
namespace {

using Kind = Parameterisation::Kind;

const std::vector<std::pair<Kind, std::string>> names{{Kind::score, "score"},
                                                      {Kind::plain, "plain"},
                                                      {Kind::karras, "karras"},
                                                      {Kind::noise, "noise"},
                                                      {Kind::reconstruction, "reconstruction"}};

}  // namespace

Parameterisation Parameterisation::from_json(const nlohmann::json& json, const std::string& name) {
  Parameterisation result;
  const auto kind = json.is_object() ? json.value("kind", nlohmann::json()) : json;
  bool found = false;
  for (const auto& [known, text] : names)
    if (kind.is_string() && kind.get<std::string>() == text) {
      result.kind = known;
      found = true;
    }
  if (!found) input_error("{}: parameterisation.kind: expected score, plain, karras, noise or reconstruction", name);
  if (result.kind == Kind::karras) {
    const auto sigma_data = json.is_object() ? json.value("sigma_data", nlohmann::json(0.5)) : nlohmann::json(0.5);
    if (!sigma_data.is_number() || !(sigma_data.get<double>() > 0 && sigma_data.get<double>() < 1e6))
      input_error("{}: parameterisation.sigma_data: expected a positive number", name);
    result.sigma_data = sigma_data.get<double>();
  }
  return result;
}

nlohmann::json Parameterisation::to_json() const {
  nlohmann::json json;
  for (const auto& [known, text] : names)
    if (known == kind) json["kind"] = text;
  if (kind == Kind::karras) json["sigma_data"] = sigma_data;
  return json;
}

}  // namespace penumbra
