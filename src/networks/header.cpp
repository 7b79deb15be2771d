#include "networks/header.h"

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra {
namespace {

using nlohmann::json;

constexpr int format_version = 1;

const json& field(const json& object, const char* key, const std::string& file) {
  const auto found = object.find(key);
  if (found == object.end()) input_error("{}: header.{}: expected this field, found none", file, key);
  return *found;
}

[[noreturn]] void refuse(const json& found, const std::string& key, const std::string& expected,
                         const std::string& file) {
  input_error("{}: header.{}: expected {}, found {}", file, key, expected,
              excerpt(found.dump(-1, ' ', true, json::error_handler_t::replace)));
}

/// Numbers low and high with least <= low, high <= most and high - low >= span.
std::pair<double, double> range(const json& object, const std::string& key, double least, double most, double span,
                                const std::string& file) {
  const auto& value = field(object, key.c_str(), file);
  if (value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number()) {
    const double low = value[0].get<double>(), high = value[1].get<double>();
    if (low >= least && high <= most && high - low >= span) return {low, high};
  }
  refuse(value, key, fmt::format("[low, high] within {:g} to {:g}", least, most), file);
}

Shape shape(const json& object, const std::string& file) {
  const auto& value = field(object, "image_shape", file);
  const auto is_extent = [](const json& extent) {
    return extent.is_number_integer() && extent.get<double>() >= 1 &&
           extent.get<double>() <= static_cast<double>(largest_extent);
  };
  if (!value.is_array() || value.size() != 3 || !std::all_of(value.begin(), value.end(), is_extent))
    refuse(value, "image_shape", fmt::format("[channels, height, width], each 1 to {}", largest_extent), file);
  return value.get<Shape>();
}

/// A variational network gives images and nothing else does.
void require_fit(const json& object, bool reconstructs, const std::string& file) {
  const auto& architecture = object["architecture"];
  const auto kind = architecture.is_object() ? architecture.value("kind", json()) : json();
  if ((kind == json("varnet")) != reconstructs)
    refuse(object["parameterisation"], "parameterisation",
           reconstructs ? "another kind for this architecture" : "reconstruction for a varnet", file);
}

}  // namespace

NetworkHeader NetworkHeader::from_json(const json& object, const std::string& file) {
  if (!object.is_object()) input_error("{}: header: expected an object", file);
  if (const auto& format = field(object, "format", file); format != json(format_version))
    refuse(format, "format", std::to_string(format_version), file);
  NetworkHeader header;
  if (const auto name = object.find("name"); name != object.end()) {
    if (!name->is_string()) refuse(*name, "name", "text", file);
    header.name = name->get<std::string>();
  }
  header.architecture = field(object, "architecture", file);
  header.parameterisation = Parameterisation::from_json(field(object, "parameterisation", file), file);
  require_fit(object, header.reconstructs(), file);
  if (!header.reconstructs())
    std::tie(header.sigma_low, header.sigma_high) =
        range(object, "sigma_range", smallest_sigma, largest_sigma, 0, file);
  std::tie(header.pixel_low, header.pixel_high) =
      range(object, "pixel_range", -largest_pixel, largest_pixel, smallest_pixel_span, file);
  header.image_shape = shape(object, file);
  if (const auto record = object.find("record"); record != object.end()) {
    if (!record->is_object()) refuse(*record, "record", "an object", file);
    header.record = *record;
  }
  return header;
}

json NetworkHeader::to_json() const {
  json object{{"format", format_version},
              {"name", name},
              {"architecture", architecture},
              {"parameterisation", parameterisation.to_json()},
              {"pixel_range", {pixel_low, pixel_high}},
              {"image_shape", image_shape},
              {"record", record}};
  if (!reconstructs()) object["sigma_range"] = {sigma_low, sigma_high};
  return object;
}

}  // namespace penumbra
