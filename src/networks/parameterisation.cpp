#include "networks/parameterisation.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace penumbra {
namespace {

using Kind = Parameterisation::Kind;

const std::vector<std::pair<Kind, std::string>> names{
    {Kind::score, "score"}, {Kind::plain, "plain"}, {Kind::karras, "karras"}, {Kind::noise, "noise"}};

Tensor per_image(const Tensor& number) { return number.reshape({-1, 1, 1, 1}); }

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
  if (!found) input_error("{}: parameterisation.kind: expected score, plain, karras or noise", name);
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

KarrasCoefficients::KarrasCoefficients(const Tensor& sigma, double sigma_data) {
  const auto s = per_image(sigma);
  const auto total = s.square() + sigma_data * sigma_data;
  skip = sigma_data * sigma_data / total;
  out = s * sigma_data / total.sqrt();
  in = 1 / total.sqrt();
}

Tensor ScoreNetwork::apply(const Tensor& x, const Tensor& condition, const Tensor& labels, bool drop) const {
  return (*network)({x.contiguous(format), condition, labels, drop}).to(at::kFloat);
}

Tensor ScoreNetwork::denoise(const Tensor& x, const Tensor& sigma, const Tensor& labels, bool drop) const {
  switch (parameterisation.kind) {
    case Kind::karras: {
      const KarrasCoefficients c(sigma, parameterisation.sigma_data);
      return c.skip * x + c.out * apply(c.in * x, sigma.log(), labels, drop);
    }
    case Kind::noise:
      return x - apply(x, sigma, labels, drop);
    case Kind::score:
      return x + per_image(sigma) * apply(x, sigma, labels, drop);
    case Kind::plain:
      break;
  }
  return x + per_image(sigma.square()) * apply(x, sigma, labels, drop);
}

Tensor ScoreNetwork::score(const Tensor& x, const Tensor& sigma, const Tensor& labels) const {
  switch (parameterisation.kind) {
    case Kind::score:
      return apply(x, sigma, labels, false) / per_image(sigma);
    case Kind::plain:
      return apply(x, sigma, labels, false);
    case Kind::karras: {
      // (D - x) / sigma^2 with the cancelling terms taken out by hand: at small sigma float32 would lose them.
      const double d = parameterisation.sigma_data;
      const auto s = per_image(sigma), total = s.square() + d * d;
      const KarrasCoefficients c(sigma, d);
      return (d * total.sqrt() / s * apply(c.in * x, sigma.log(), labels, false) - x) / total;
    }
    case Kind::noise:
      break;
  }
  return -apply(x, sigma, labels, false) / per_image(sigma.square());
}

}  // namespace penumbra
