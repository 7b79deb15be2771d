// libpng reports an error by longjmp. It must skip no destructor: what needs one lives in the caller of the function
// with the setjmp, and that function's own variables are plain.
#include "io/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::io {
namespace {

constexpr png_uint_32 longest_png_side = 32768;
constexpr size_t most_pixels = size_t{1} << 28;
// Deflate packs at most 1032 bytes into one: a file too short for its pixels is refused before they are allocated.
constexpr size_t best_compression = 1032;

struct Failure {
  char message[128] = "not a PNG file";
};

void on_error(png_structp png, png_const_charp message) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::strncpy(failure->message, message, sizeof failure->message - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep out, size_t count) {
  auto* rest = static_cast<std::span<const char>*>(png_get_io_ptr(png));
  if (count > rest->size()) png_error(png, "the file is truncated");
  std::memcpy(out, rest->data(), count);
  *rest = rest->subspan(count);
}

void write_bytes(png_structp png, png_bytep data, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), count);
}

void flush_bytes(png_structp) {}

/// Throws where a chunk says that it is longer than the file. libpng would allocate what it says, up to 2 GiB, before
/// it finds the file too short; its own limit on chunks only warns.
void check_chunks(std::span<const char> rest, const std::string& name) {
  constexpr size_t signature = 8, head = 8, checksum = 4;
  rest = rest.subspan(std::min(rest.size(), signature));
  while (rest.size() >= head) {
    const size_t length = png_get_uint_32(reinterpret_cast<png_const_bytep>(rest.data()));
    const std::string type(rest.data() + 4, 4);
    rest = rest.subspan(head);
    if (length > rest.size() || rest.size() - length < checksum)
      input_error("{}: expected a PNG image: the file is truncated in its chunk {}", name, excerpt(type));
    if (type == "IEND") return;
    rest = rest.subspan(length + checksum);
  }
}

/// Asks libpng for whole bytes (or pairs), palette looked up, no alpha.
void simplify(png_structp png, png_infop info) {
  const auto colour = png_get_color_type(png, info);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

struct Decoder {
  std::span<const char> rest;
  size_t file_size = 0;
  Pixels pixels;
  std::vector<png_bytep> rows;
  Failure failure;
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit Decoder(std::span<const char> bytes) : rest(bytes), file_size(bytes.size()) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }

  bool run() {
    if (!png || !info || setjmp(png_jmpbuf(png))) return false;
    png_set_read_fn(png, &rest, read_bytes);
    png_set_user_limits(png, longest_png_side, longest_png_side);
    png_read_info(png, info);
    check_size();
    simplify(png, info);
    allocate();
    png_read_image(png, rows.data());
    png_read_end(png, nullptr);
    return true;
  }

  void check_size() {
    const size_t height = png_get_image_height(png, info), width = png_get_image_width(png, info);
    if (height * width > most_pixels) png_error(png, "more than 2^28 pixels");
    if (height * png_get_rowbytes(png, info) / best_compression > file_size) png_error(png, "the file is truncated");
  }

  void allocate() {
    pixels.height = png_get_image_height(png, info);
    pixels.width = png_get_image_width(png, info);
    pixels.channels = png_get_channels(png, info);
    pixels.bytes_per_sample = png_get_bit_depth(png, info) / 8;
    const auto row = png_get_rowbytes(png, info);
    pixels.data.resize(pixels.height * row);
    for (int64_t i = 0; i < pixels.height; ++i) rows.push_back(pixels.data.data() + i * row);
  }
};

struct Encoder {
  std::string bytes;
  Failure failure;
  png_structp png = nullptr;
  png_infop info = nullptr;

  Encoder() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { png_destroy_write_struct(&png, &info); }

  bool run(const Pixels& pixels) {
    if (!png || !info || setjmp(png_jmpbuf(png))) return false;
    png_set_write_fn(png, &bytes, write_bytes, flush_bytes);
    const auto colour = pixels.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB;
    png_set_IHDR(png, info, pixels.width, pixels.height, 8, colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int64_t i = 0; i < pixels.height; ++i)
      png_write_row(png, pixels.data.data() + i * pixels.width * pixels.channels);
    png_write_end(png, nullptr);
    return true;
  }
};

}  // namespace

Pixels decode_png(std::span<const char> bytes, const std::string& name) {
  check_chunks(bytes, name);
  Decoder decoder(bytes);
  if (!decoder.run()) input_error("{}: expected a PNG image: {}", name, excerpt(decoder.failure.message));
  return std::move(decoder.pixels);
}

std::string encode_png(const Pixels& pixels) {
  Encoder encoder;
  if (!encoder.run(pixels)) throw std::invalid_argument(fmt::format("PNG: {}", encoder.failure.message));
  return std::move(encoder.bytes);
}

}  // namespace penumbra::io
