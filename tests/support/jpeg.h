/// JPEG files made by hand from the standard's definitions, so that the pixels are known without a second library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penumbra::test {

/// The coefficients of 8 x 8 pixels: 128 + level + sqrt(2) slope cos(pi (2 column + 1) / 16).
struct JpegBlock {
  int level = 0;
  int slope = 0;
};

/// Baseline, Huffman coded, components of one size (Y or Y, Cb, Cr; more for what should be refused); each has its
/// blocks in reading order, ceil(height / 8) rows of ceil(width / 8).
std::string make_jpeg(int64_t height, int64_t width, const std::vector<std::vector<JpegBlock>>& components);

}  // namespace penumbra::test
