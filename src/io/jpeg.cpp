// libjpeg reports an error by a call that must not return, from which we longjmp. It must skip no destructor: what
// needs one lives in the caller of the function with the setjmp, and that function's own variables are plain.
#include "io/jpeg.h"

#include "core/error.h"
#include "core/nearest.h"

#ifdef PENUMBRA_JPEG
#include <cstdio>  // jpeglib.h needs it before

#include <jpeglib.h>

#include <jerror.h>  // after jpeglib.h: the numbers of the messages depend on the version that it names

#include <csetjmp>
#include <utility>
#endif

namespace penumbra::io {

#ifdef PENUMBRA_JPEG
namespace {

constexpr JDIMENSION longest_jpeg_side = 32768;
constexpr size_t most_pixels = size_t{1} << 28;
// A progressive image has some ten scans; a hostile one could ask for thousands of passes over a large image.
constexpr int most_scans = 500;

struct Failure {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void fail(j_common_ptr jpeg) {
  auto* failure = reinterpret_cast<Failure*>(jpeg->err);
  jpeg->err->format_message(jpeg, failure->message);
  std::longjmp(failure->jump, 1);
}

[[noreturn]] void fail(j_decompress_ptr jpeg, const char* message) {
  auto* failure = reinterpret_cast<Failure*>(jpeg->err);
  std::snprintf(failure->message, sizeof failure->message, "%s", message);
  std::longjmp(failure->jump, 1);
}

/// libjpeg goes on after a warning with gray in place of the pixels. Only what leaves them whole may pass: a marker's
/// odd version, or bytes between two markers, which some cameras write.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
      return fail(reinterpret_cast<j_decompress_ptr>(jpeg), "the file is truncated");
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
      return;
    default:
      fail(jpeg);
  }
}

void on_progress(j_common_ptr jpeg) {
  const auto decompress = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (decompress->input_scan_number > most_scans) fail(decompress, "more than 500 scans");
}

struct Decoder {
  std::span<const char> bytes;
  Pixels pixels;
  Failure failure;
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct jpeg{};

  explicit Decoder(std::span<const char> file) : bytes(file) {
    jpeg.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = fail;
    failure.manager.emit_message = on_message;
    progress.progress_monitor = on_progress;
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(&jpeg); }

  bool run() {
    if (setjmp(failure.jump)) return false;
    jpeg_create_decompress(&jpeg);
    jpeg.progress = &progress;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&jpeg, TRUE);
    check();
    jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&jpeg);
    allocate();
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = pixels.data.data() + jpeg.output_scanline * pixels.width * pixels.channels;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    return true;
  }

  void check() {
    if (jpeg.image_width > longest_jpeg_side || jpeg.image_height > longest_jpeg_side)
      fail(&jpeg, "more than 32768 pixels a side");
    if (size_t{jpeg.image_width} * jpeg.image_height > most_pixels) fail(&jpeg, "more than 2^28 pixels");
    if (jpeg.num_components == 4) fail(&jpeg, "CMYK colours; convert it to RGB");
    if (jpeg.num_components != 1 && jpeg.num_components != 3) fail(&jpeg, "neither gray nor colour");
    if (jpeg.arith_code) fail(&jpeg, "arithmetic coding is not supported");
    // A Huffman code has at least one bit, a block at least one code: a file too short for its blocks is refused
    // before they are allocated.
    size_t blocks = 0;
    for (int i = 0; i < jpeg.num_components; ++i)
      blocks += size_t{jpeg.comp_info[i].width_in_blocks} * jpeg.comp_info[i].height_in_blocks;
    if (blocks / 8 > bytes.size()) fail(&jpeg, "the file is truncated");
  }

  void allocate() {
    pixels.height = jpeg.output_height;
    pixels.width = jpeg.output_width;
    pixels.channels = jpeg.output_components;
    pixels.bytes_per_sample = 1;
    pixels.data.resize(pixels.height * pixels.width * pixels.channels);
  }
};

}  // namespace

bool reads_jpeg() { return true; }

Pixels decode_jpeg(std::span<const char> bytes, const std::string& name) {
  Decoder decoder(bytes);
  if (!decoder.run()) input_error("{}: expected a JPEG image: {}", name, excerpt(decoder.failure.message));
  return std::move(decoder.pixels);
}

#else

bool reads_jpeg() { return false; }

Pixels decode_jpeg(std::span<const char>, const std::string& name) {
  input_error(
      "{}: a JPEG image, but this program was built without libjpeg; convert it to PNG, or build again with "
      "libjpeg installed (Debian: libjpeg-dev)",
      name);
}

#endif

}  // namespace penumbra::io
