#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "core/nearest.h"
#include "io/file.h"
#include "io/fits_reader.h"
#include "io/fits_writer.h"
#include "io/sky_image.h"

namespace penumbra::io {
namespace {

/// Height and width; axes after these (frequency, Stokes) have to be 1.
std::pair<int64_t, int64_t> size_of(const FitsReader& file) {
  const auto axes = file.axes();
  if (axes.size() < 2)
    input_error("{}: NAXIS: expected an image with at least two axes, found {}", file.name(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 1 || axes[i] > (i < 2 ? 32768 : 1))
      input_error("{}: NAXIS{}: expected {}, found {}", file.name(), i + 1, i < 2 ? "1 to 32768" : "1", axes[i]);
  return {axes[1], axes[0]};
}

/// Radians; 0 where the file does not say.
double pixel_of(const FitsReader& file) {
  const double width = std::abs(file.number("CDELT1").value_or(0)),
               height = std::abs(file.number("CDELT2").value_or(0));
  constexpr double tolerance = 1e-6;  // of what programs round
  if (!std::isfinite(width) || !(std::abs(width - height) <= tolerance * width))
    input_error("{}: CDELT2: expected square pixels of {} degrees, as CDELT1, found {}", file.name(), width, height);
  return width * radians_per_degree;
}

/// OBSRA or OBSDEC, else the reference point of the axis.
double degrees_of(const FitsReader& file, const std::string& keyword, const std::string& axis) {
  if (const auto value = file.number(keyword)) return *value;
  return file.number(axis).value_or(0);
}

void require_finite(const Tensor& pixels, const std::string& name) {
  const auto bad = pixels.isfinite().logical_not().nonzero();
  if (bad.size(0) > 0)
    input_error("{}: expected finite pixels, found {} that are not, the first in row {}, column {} from the North-East",
                name, bad.size(0), bad[0][0].item<int64_t>(), bad[0][1].item<int64_t>());
}

}  // namespace

SkyImage parse_fits_image(std::span<const char> bytes, const std::string& name) {
  const FitsReader file(bytes, name);
  if (file.text("GROUPS").value_or("F") == "T")
    input_error("{}: GROUPS: expected an image, found visibilities (UVFITS)", name);
  const auto [height, width] = size_of(file);
  SkyImage image;
  image.pixel_radians = pixel_of(file);
  image.source = file.text("OBJECT").value_or("");
  image.right_ascension = degrees_of(file, "OBSRA", "CRVAL1") / 15;
  image.declination = degrees_of(file, "OBSDEC", "CRVAL2");
  image.frequency = file.number("FREQ").value_or(0);
  image.mjd = file.number("MJD").value_or(0);
  image.unit = file.text("BUNIT").value_or("");
  auto values = file.pixels();
  image.pixels = at::from_blob(values.data(), {height, width}, at::kDouble).clone();
  if (file.number("CDELT2").value_or(1) > 0) image.pixels = image.pixels.flip(0);
  if (file.number("CDELT1").value_or(-1) > 0) image.pixels = image.pixels.flip(1);
  image.pixels = image.pixels.contiguous();
  require_finite(image.pixels, name);
  return image;
}

std::string format_fits_image(const SkyImage& image, const std::string& name) {
  const auto stored = image.pixels.to(at::kCPU, at::kDouble).flip(-2).contiguous();
  const auto height = stored.size(-2), width = stored.size(-1);
  FitsWriter file(name);
  if (stored.dim() == 2)
    file.begin_image({width, height});
  else
    file.begin_image({width, height, stored.size(0)});
  const double degrees = image.pixel_radians / radians_per_degree;
  file.text("OBJECT", image.source);
  file.text("CTYPE1", "RA---SIN");
  file.text("CTYPE2", "DEC--SIN");
  file.number("CDELT1", -degrees);
  file.number("CDELT2", degrees);
  file.number("CRPIX1", static_cast<double>(width) / 2 + 0.5);
  file.number("CRPIX2", static_cast<double>(height) / 2 + 0.5);
  file.number("OBSRA", image.right_ascension * 15);
  file.number("OBSDEC", image.declination);
  file.number("CRVAL1", image.right_ascension * 15);
  file.number("CRVAL2", image.declination);
  if (image.frequency > 0) file.number("FREQ", image.frequency);
  file.number("MJD", image.mjd);
  file.text("TELESCOP", "VLBI");
  if (!image.unit.empty()) file.text("BUNIT", image.unit);
  file.text("STOKES", "I");
  file.pixels({stored.data_ptr<double>(), static_cast<size_t>(stored.numel())});
  return file.finish();
}

void write_fits_image(const std::filesystem::path& path, const SkyImage& image) {
  write_file(path, format_fits_image(image, path.string()));
}

}  // namespace penumbra::io
