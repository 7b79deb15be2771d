#include "io/sky_image.h"

#include "core/error.h"
#include "core/lowercase.h"
#include "io/file.h"
#include "io/fits_layout.h"

namespace penumbra::io {
namespace {

constexpr std::string_view text_magic = "# SRC:";

}  // namespace

bool is_jansky_per_pixel(const std::string& unit) {
  const auto word = lowercase(unit);
  return word == "jy/pixel" || word == "jy/pix";
}

SkyImage read_sky_image(const std::filesystem::path& path) { return parse_sky_image(read_file(path), path.string()); }

bool looks_like_sky_image(std::string_view content) {
  return content.starts_with(fits_magic) || content.starts_with(text_magic);
}

SkyImage parse_sky_image(std::span<const char> bytes, const std::string& name) {
  const std::string_view content(bytes.data(), bytes.size());
  if (content.starts_with(fits_magic)) return parse_fits_image(bytes, name);
  if (content.starts_with(text_magic)) return parse_sky_text(content, name);
  input_error("{}: expected an image of the sky, as FITS or as ehtim's text; the file begins like neither", name);
}

SkyImage parse_sky_images(std::span<const char> bytes, const std::string& name) {
  if (std::string_view(bytes.data(), bytes.size()).starts_with(fits_magic)) return parse_fits_images(bytes, name);
  auto image = parse_sky_image(bytes, name);
  image.pixels = image.pixels.unsqueeze(0);
  return image;
}

}  // namespace penumbra::io
