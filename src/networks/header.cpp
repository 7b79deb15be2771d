#include "networks/header.h"

#include <cmath>

#include "core/error.h"

namespace penumbra {
namespace {

using nlohmann::json;

constexpr int format_version = 1;

json field(const json& object, const std::string& key, const std::string& file) {
  const auto found = object.find(key);
  if (found == object.end()) input_error("{}: header.{}: expected this field, found none", file, key);
  return *found;
}

std::pair<double, double> range(const json& object, const std::string& key, const std::string& file) {
  const auto value = field(object, key, file);
  if (!value.is_array() || value.size() != 2 || !value[0].is_number() || !value[1].is_number() ||
      !(value[0].get<double>() <= value[1].get<double>()) || !std::isfinite(value[1].get<double>()))
    input_error("{}: header.{}: expected [low, high]", file, key);
  return {value[0].get<double>(), value[1].get<double>()};
}

}  // namespace

NetworkHeader NetworkHeader::from_json(const json& object, const std::string& file) {
  if (!object.is_object()) input_error("{}: header: expected an object", file);
  if (object.value("format", json()) != json(format_version))
    input_error("{}: header.format: expected {}, found {}", file, format_version,
                object.value("format", json()).dump().substr(0, 40));
  NetworkHeader header;
  if (const auto name = object.value("name", json("")); name.is_string()) header.name = name.get<std::string>();
  header.architecture = field(object, "architecture", file);
  header.parameterisation = Parameterisation::from_json(field(object, "parameterisation", file), file);
  std::tie(header.sigma_low, header.sigma_high) = range(object, "sigma_range", file);
  if (!(header.sigma_low > 0)) input_error("{}: header.sigma_range: expected positive numbers", file);
  std::tie(header.pixel_low, header.pixel_high) = range(object, "pixel_range", file);
  if (!(header.pixel_low < header.pixel_high)) input_error("{}: header.pixel_range: expected low < high", file);
  const auto shape = field(object, "image_shape", file);
  if (shape.is_array())
    for (const auto& extent : shape)
      if (extent.is_number_integer() && extent.get<int64_t>() >= 1 && extent.get<int64_t>() <= 65536)
        header.image_shape.push_back(extent.get<int64_t>());
  if (header.image_shape.size() != 3 || shape.size() != 3)
    input_error("{}: header.image_shape: expected [channels, height, width]", file);
  header.record = object.value("record", json::object());
  return header;
}

json NetworkHeader::to_json() const {
  return {{"format", format_version},
          {"name", name},
          {"architecture", architecture},
          {"parameterisation", parameterisation.to_json()},
          {"sigma_range", {sigma_low, sigma_high}},
          {"pixel_range", {pixel_low, pixel_high}},
          {"image_shape", image_shape},
          {"record", record}};
}

}  // namespace penumbra
