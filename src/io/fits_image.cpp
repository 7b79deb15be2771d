#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "io/file.h"
#include "io/fits_axes.h"
#include "io/fits_reader.h"
#include "io/fits_writer.h"
#include "io/sky_image.h"

namespace penumbra::io {
namespace {

constexpr int64_t most_side = 32768;

/// Number, height and width; axes after these (frequency, Stokes) have to be 1, the third too where one image is asked
/// for.
Shape shape_of(const FitsReader& file, int64_t most_images) {
  const auto axes = file.axes();
  if (axes.size() < 2)
    input_error("{}: NAXIS: expected an image with at least two axes, found {}", file.name(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto most = i < 2 ? most_side : i == 2 ? most_images : 1;
    if (axes[i] < 1 || axes[i] > most)
      input_error("{}: NAXIS{}: expected {}, found {}", file.name(), i + 1,
                  most == 1 ? "1" : fmt::format("1 to {}", most), axes[i]);
  }
  return {axes.size() > 2 ? axes[2] : 1, axes[1], axes[0]};
}

/// Radians; 0 where the file does not say.
double pixel_of(const FitsAxes& axes, const std::string& name) {
  const double width = std::abs(axes.right_ascension.step), height = std::abs(axes.declination.step);
  constexpr double tolerance = 1e-6;  // of what programs round
  if ((width == 0) != (height == 0))
    input_error("{}: CDELT{}: expected the side of a pixel in degrees, found 0", name, width == 0 ? 1 : 2);
  if (!std::isfinite(width) || !(std::abs(width - height) <= tolerance * width))
    input_error("{}: CDELT2: expected square pixels of {} degrees, as CDELT1, found {}", name, width, height);
  return width * radians_per_degree;
}

void require_finite(const Tensor& pixels, const std::string& name) {
  const auto bad = pixels.isfinite().logical_not().nonzero();
  if (bad.size(0) > 0)
    input_error("{}: expected finite pixels, found {} that are not, the first in row {}, column {} from the North-East",
                name, bad.size(0), bad[0][1].item<int64_t>(), bad[0][2].item<int64_t>());
}

SkyImage parse_at_most(int64_t most_images, std::span<const char> bytes, const std::string& name) {
  const FitsReader file(bytes, name);
  if (file.text("GROUPS").value_or("F") == "T")
    input_error("{}: GROUPS: expected an image, found visibilities (UVFITS)", name);
  const auto shape = shape_of(file, most_images);
  const auto axes = read_fits_axes(file);
  SkyImage image;
  image.pixel_radians = pixel_of(axes, name);
  image.source = file.text("OBJECT").value_or("");
  const auto east = file.number("OBSRA");
  const auto degrees = east ? east : axes.right_ascension.reference;
  if (degrees) image.right_ascension = *degrees / 15;
  const auto north = file.number("OBSDEC");
  image.declination = north ? north : axes.declination.reference;
  image.frequency = file.number("FREQ").value_or(0);
  image.mjd = file.number("MJD").value_or(0);
  image.unit = file.text("BUNIT").value_or("");
  auto values = file.pixels();
  image.pixels = at::from_blob(values.data(), shape, at::kDouble).clone();
  if (axes.declination.step >= 0) image.pixels = image.pixels.flip(1);
  if (axes.right_ascension.step > 0) image.pixels = image.pixels.flip(2);
  image.pixels = image.pixels.contiguous();
  require_finite(image.pixels, name);
  return image;
}

}  // namespace

SkyImage parse_fits_image(std::span<const char> bytes, const std::string& name) {
  auto image = parse_at_most(1, bytes, name);
  image.pixels = image.pixels[0];
  return image;
}

SkyImage parse_fits_images(std::span<const char> bytes, const std::string& name) {
  return parse_at_most(most_side, bytes, name);
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
  // A direction that nobody knows is left out: zeros would look like one.
  if (image.right_ascension && image.declination) {
    file.number("OBSRA", *image.right_ascension * 15);
    file.number("OBSDEC", *image.declination);
    file.number("CRVAL1", *image.right_ascension * 15);
    file.number("CRVAL2", *image.declination);
  }
  if (image.frequency > 0) file.number("FREQ", image.frequency);
  if (image.mjd > 0) file.number("MJD", image.mjd);
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
