#include "app/sky_info.h"

#include <ATen/ATen.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/observation_info.h"
#include "io/file.h"
#include "io/fits_layout.h"
#include "io/fits_reader.h"
#include "io/sky_image.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool holds_visibilities(const std::string& fits, const std::string& name) {
  return io::FitsReader(fits, name).text("GROUPS").value_or("F") == "T";
}

json describe_images(const std::string& bytes, const std::string& name) {
  const auto sky = io::parse_sky_images(bytes, name);
  const auto count = sky.pixels.size(0);
  const double pixel = sky.pixel_radians / io::radians_per_microarcsecond;
  json info{{"kind", count == 1 ? "image of the sky" : "images of the sky"},
            {"source", sky.source},
            {"frequency_hz", sky.frequency},
            {"mjd", sky.mjd},
            {"shape", sky.pixels[0].sizes().vec()},
            {"pixel_uas", pixel},
            {"fov_uas", pixel * static_cast<double>(sky.pixels.size(-1))},
            {"unit", sky.unit},
            {"minimum", sky.pixels.min().item<double>()},
            {"maximum", sky.pixels.max().item<double>()}};
  if (sky.right_ascension && sky.declination) add_direction(info, *sky.right_ascension, *sky.declination);
  const auto sums = sky.pixels.sum({1, 2});
  if (count == 1) {
    info["sum"] = sums.item<double>();
  } else {
    info["images"] = count;
    info["smallest_sum"] = sums.min().item<double>();
    info["largest_sum"] = sums.max().item<double>();
  }
  return info;
}

}  // namespace

bool looks_like_sky(const fs::path& path) {
  std::string head(16, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(stream.gcount()));
  return io::looks_like_sky_image(head);
}

bool is_uvfits(const fs::path& path) {
  const auto bytes = io::read_file(path);
  return bytes.starts_with(io::fits_magic) && holds_visibilities(bytes, path.string());
}

json describe_sky(const fs::path& path) {
  const auto bytes = io::read_file(path);
  if (bytes.starts_with(io::fits_magic) && holds_visibilities(bytes, path.string()))
    return describe_uvfits(bytes, path.string());
  return describe_images(bytes, path.string());
}

}  // namespace penumbra::app
