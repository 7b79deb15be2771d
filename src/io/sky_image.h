/// Images of the sky as astronomers keep them: FITS, and ehtim's text.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/tensor.h"

namespace penumbra::io {

inline constexpr double radians_per_degree = 0.017453292519943295;
inline constexpr double radians_per_microarcsecond = radians_per_degree / 3600e6;

/// Row 0 is the North, column 0 the East: right ascension grows to the left.
struct SkyImage {
  Tensor pixels;             ///< float64 [H, W], or [N, H, W] for several
  double pixel_radians = 0;  ///< side of a pixel; 0 where a file does not say
  std::string source;
  std::optional<double> right_ascension;  ///< hours, J2000; empty where a file does not say
  std::optional<double> declination;      ///< degrees, J2000; empty where a file does not say
  double frequency = 0;                   ///< Hz; 0 where a file does not say
  double mjd = 0;
  std::string unit;  ///< BUNIT, "JY/PIXEL" for most; empty where a file does not say
};

/// Whether the unit is Jy a pixel, in the spellings that programs have for it.
bool is_jansky_per_pixel(const std::string& unit);

/// FITS or ehtim's text, by the content. Throws InputError that names the file, the field, what was expected and what
/// was found.
SkyImage read_sky_image(const std::filesystem::path& path);
bool looks_like_sky_image(std::string_view content);
SkyImage parse_sky_image(std::span<const char> bytes, const std::string& name);

/// The same for one image or several: pixels are [N, H, W].
SkyImage parse_sky_images(std::span<const char> bytes, const std::string& name);

/// The first image of the file. FITS has row 0 in the South; a CDELT1 > 0 says that column 0 is in the West. Both are
/// turned to the order above.
SkyImage parse_fits_image(std::span<const char> bytes, const std::string& name);

/// All images of the file's first part, along its third axis: pixels are [N, H, W].
SkyImage parse_fits_images(std::span<const char> bytes, const std::string& name);

/// Lines of x and y in arcseconds and I in Jy, from the North-East on, below a heading that begins with "# SRC:".
SkyImage parse_sky_text(std::string_view text, const std::string& name);

/// Writes atomically, in float64, with the keywords that ehtim reads.
void write_fits_image(const std::filesystem::path& path, const SkyImage& image);
std::string format_fits_image(const SkyImage& image, const std::string& name);

}  // namespace penumbra::io
