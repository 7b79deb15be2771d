/// The images of a folder, found before any is decoded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace penumbra::training {

enum class ImageFormat { png, jpeg, npy, sky };  // sky: FITS, or ehtim's text

struct ImageFile {
  std::filesystem::path path;
  std::string name;  ///< path from the folder, with '/'
  ImageFormat format = ImageFormat::png;
  bool bytes = true;   ///< pixels of 8 bits or fewer; never arrays and images of the sky
  int64_t images = 1;  ///< an NPY file [N, C, H, W] holds N
  uint64_t size = 0;   ///< of the file, in bytes
};

struct ImageFiles {
  std::vector<ImageFile> files;      ///< in the order of their names
  std::vector<std::string> skipped;  ///< names of what is no image
};

/// Nested folders too, but not folders behind links; what begins with a dot is left out without a word. The content
/// tells an image (FITS files of visibilities are none), yet a file that is named like one and is none is an
/// InputError, as is an array of another shape.
ImageFiles find_images(const std::filesystem::path& folder);

}  // namespace penumbra::training
