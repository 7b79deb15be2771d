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

[[noreturn]] void refuse_at(const std::string& place, const std::string& expected, const json& found) {
  input_error("{}: expected {}, found {}", place, expected,
              excerpt(found.dump(-1, ' ', true, json::error_handler_t::replace)));
}

[[noreturn]] void refuse(const json& found, const std::string& key, const std::string& expected,
                         const std::string& file) {
  refuse_at(fmt::format("{}: header.{}", file, key), expected, found);
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

/// `place`: "x.safetensors: header.pixel_sd." or "x.sd.json: ", what stands before a field's name.
PixelSpread pixel_spread(const json& value, const Shape& image_shape, const std::string& place) {
  const auto refuse = [&](const char* key, const std::string& expected, const json& found) {
    refuse_at(place + key, expected, found);
  };
  PixelSpread spread;
  const auto& extents = value.value("shape", json());
  const auto fits = [&](size_t i) {
    if (!extents[i].is_number_integer()) return false;
    const auto extent = extents[i].get<int64_t>();
    return i == 0 ? extent == image_shape[0] : extent >= 1 && extent <= std::min(image_shape[i], PixelSpread::most);
  };
  if (!extents.is_array() || extents.size() != 3 || !fits(0) || !fits(1) || !fits(2))
    refuse("shape",
           fmt::format("[{}, rows, columns], at most those of the image and {}", image_shape[0], PixelSpread::most),
           extents);
  spread.shape = extents.get<Shape>();
  const auto count = static_cast<size_t>(spread.shape[0] * spread.shape[1] * spread.shape[2]);
  const auto& sd = value.value("sd", json());
  const auto is_sd = [](const json& number) {
    return number.is_number() && number.get<double>() >= 0 && number.get<double>() <= largest_pixel;
  };
  if (!sd.is_array() || sd.size() != count || !std::all_of(sd.begin(), sd.end(), is_sd))
    refuse("sd", fmt::format("{} numbers from 0 to {:g}", count, largest_pixel), sd);
  spread.sd = sd.get<std::vector<double>>();
  const auto& from = value.value("from", json());
  if (!from.is_string()) refuse("from", "text", from);
  spread.from = from.get<std::string>();
  return spread;
}

PixelSpread pixel_spread(const json& value, const Shape& image_shape, const std::string& file,
                         const std::string& sd_file) {
  const auto whole = sd_file.empty() ? file + ": header.pixel_sd" : sd_file;
  if (!value.is_object()) refuse_at(whole, "an object with shape, sd and from", value);
  return pixel_spread(value, image_shape, whole + (sd_file.empty() ? "." : ": "));
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

json PixelSpread::to_json() const { return {{"shape", shape}, {"sd", sd}, {"from", from}}; }

NetworkHeader NetworkHeader::from_json(const json& object, const std::string& file, const std::string& sd_file) {
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
  if (const auto spread = object.find("pixel_sd"); spread != object.end())
    header.pixel_sd = pixel_spread(*spread, header.image_shape, file, sd_file);
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
  if (pixel_sd) object["pixel_sd"] = pixel_sd->to_json();
  return object;
}

}  // namespace penumbra
