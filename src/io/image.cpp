#include "io/image.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "core/error.h"
#include "io/file.h"
#include "io/jpeg.h"
#include "io/npy.h"
#include "io/png.h"
#include "io/sky_image.h"

namespace penumbra::io {
namespace {

Tensor image_of(Tensor array, const std::string& name) {
  const auto refuse = [&](const std::string& found) {
    input_error("{}: expected an image [H, W], [C, H, W] or [1, C, H, W], found {}", name, found);
  };
  if (array.is_complex()) refuse("complex numbers");
  if (array.dim() == 2) array = array.unsqueeze(0);
  if (array.dim() == 4 && array.size(0) == 1) array = array.squeeze(0);
  if (array.dim() != 3 || array.numel() == 0) refuse("shape [" + describe(array.sizes()) + "]");
  return array.to(at::kDouble);
}

Tensor image_of(const Pixels& pixels, double low, double high) {
  auto image = at::empty({pixels.height, pixels.width, pixels.channels}, at::kDouble);
  auto* out = image.data_ptr<double>();
  const auto* in = pixels.data.data();
  const bool is_wide = pixels.bytes_per_sample == 2;
  for (int64_t i = 0; i < image.numel(); ++i) {
    const double fraction = is_wide ? (256 * in[2 * i] + in[2 * i + 1]) / 65535.0 : in[i] / 255.0;
    out[i] = low + (high - low) * fraction;
  }
  return image.permute({2, 0, 1}).contiguous();
}

}  // namespace

Tensor read_image(const std::filesystem::path& path, double low, double high) {
  return parse_image(read_file(path), path.string(), low, high);
}

Tensor parse_image(std::span<const char> bytes, const std::string& name, double low, double high) {
  const std::string_view content(bytes.data(), bytes.size());
  if (content.starts_with("\x93NUMPY")) return image_of(parse_npy(bytes, name), name);
  if (content.starts_with("\x89PNG")) return image_of(decode_png(bytes, name), low, high);
  if (content.starts_with(jpeg_magic)) return image_of(decode_jpeg(bytes, name), low, high);
  if (looks_like_sky_image(content)) return image_of(parse_sky_image(bytes, name).pixels, name);
  input_error("{}: expected an image as NPY, PNG, JPEG, FITS or ehtim's text; the file begins like none of them", name);
}

void write_png(const std::filesystem::path& path, const Tensor& bytes) { write_file(path, format_png(bytes)); }

std::string format_png(const Tensor& bytes) {
  const auto image = bytes.dim() == 2 ? bytes.unsqueeze(0) : bytes;
  if (image.scalar_type() != at::kByte || image.dim() != 3 || (image.size(0) != 1 && image.size(0) != 3))
    throw std::invalid_argument("write_png: expected bytes [H, W] or [3, H, W], found " + describe(bytes.sizes()));
  const auto stored = image.permute({1, 2, 0}).cpu().contiguous();
  Pixels pixels{stored.size(0), stored.size(1), stored.size(2), 1, {}};
  const auto* data = stored.data_ptr<uint8_t>();
  pixels.data.assign(data, data + stored.numel());
  return encode_png(pixels);
}

}  // namespace penumbra::io
