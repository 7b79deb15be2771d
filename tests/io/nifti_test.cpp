// NIfTI-1: every field of the header at the byte where the standard has it.
#include "io/nifti.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/file.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::io {
namespace {

template <typename T>
T at_byte(const std::string& bytes, size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

template <typename T>
std::vector<T> at_byte(const std::string& bytes, size_t place, size_t count) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(at_byte<T>(bytes, place + i * sizeof(T)));
  return values;
}

TEST(Nifti, HeaderHasItsFieldsInPlace) {
  const auto bytes = format_nifti(at::zeros({1, 4, 6}), 0.5);
  EXPECT_EQ(bytes.size(), 352U + 4 * 4 * 6);
  EXPECT_EQ(at_byte<int32_t>(bytes, 0), 348);
  EXPECT_EQ(bytes[38], 'r');
  EXPECT_EQ(at_byte<int16_t>(bytes, 40, 8), (std::vector<int16_t>{3, 6, 4, 1, 1, 1, 1, 1}));    // dim
  EXPECT_EQ(at_byte<int16_t>(bytes, 68), 0);                                                    // intent_code: none
  EXPECT_EQ(at_byte<int16_t>(bytes, 70), 16);                                                   // datatype: float32
  EXPECT_EQ(at_byte<int16_t>(bytes, 72), 32);                                                   // bitpix
  EXPECT_EQ(at_byte<float>(bytes, 76, 8), (std::vector<float>{1, 0.5, 0.5, 0.5, 1, 1, 1, 1}));  // qfac and pixdim
  EXPECT_EQ(at_byte<float>(bytes, 108), 352);                                                   // vox_offset
  EXPECT_EQ(at_byte<float>(bytes, 112), 1);                                                     // scl_slope
  EXPECT_EQ(at_byte<float>(bytes, 116), 0);                                                     // scl_inter
  EXPECT_EQ(bytes[123], 2 | 8);                                                                 // mm and seconds
  EXPECT_STREQ(bytes.c_str() + 148, "penumbra");                                                // descrip
  EXPECT_EQ(at_byte<int16_t>(bytes, 252), 2);                                                   // qform_code
  EXPECT_EQ(at_byte<int16_t>(bytes, 254), 2);                                                   // sform_code
  EXPECT_EQ(at_byte<float>(bytes, 256, 3), (std::vector<float>{0, 0, 1}));                      // quatern b, c, d
  EXPECT_EQ(at_byte<float>(bytes, 268, 3), (std::vector<float>{1.25, 0.75, 0}));                // qoffset
  EXPECT_EQ(at_byte<float>(bytes, 280, 4), (std::vector<float>{-0.5, 0, 0, 1.25}));             // srow_x
  EXPECT_EQ(at_byte<float>(bytes, 296, 4), (std::vector<float>{0, -0.5, 0, 0.75}));             // srow_y
  EXPECT_EQ(at_byte<float>(bytes, 312, 4), (std::vector<float>{0, 0, 0.5, 0}));                 // srow_z
  EXPECT_EQ(bytes.substr(344, 4), std::string("n+1\0", 4));
  EXPECT_EQ(bytes.substr(348, 4), std::string(4, '\0'));  // no extension
}

TEST(Nifti, QuaternionAndAffineAreTheSameTransform) {
  // Rotation of the quaternion (a, b, c, d) with a = sqrt(1 - b^2 - c^2 - d^2), as the standard has it.
  const auto bytes = format_nifti(at::zeros({1, 5, 7}), 2);
  const auto q = at_byte<float>(bytes, 256, 3);
  const double b = q[0], c = q[1], d = q[2], a = std::sqrt(std::max(0.0, 1 - b * b - c * c - d * d));
  const double rotation[3][3] = {{a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
                                 {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
                                 {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b}};
  const auto steps = at_byte<float>(bytes, 80, 3);
  for (size_t i = 0; i < 3; ++i) {
    const auto row = at_byte<float>(bytes, 280 + 16 * i, 4);
    for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(row[j], rotation[i][j] * steps[j], 1e-6) << i << j;
    EXPECT_EQ(row[3], at_byte<float>(bytes, 268 + 4 * i));
  }
}

TEST(Nifti, ColumnsRunFastestThenRowsImagesAndChannels) {
  const auto images = at::arange(3 * 2 * 4 * 5, at::kDouble).reshape({3, 2, 4, 5});
  const auto bytes = format_nifti(images);
  EXPECT_EQ(at_byte<int16_t>(bytes, 40, 6), (std::vector<int16_t>{5, 5, 4, 1, 3, 2}));
  // x 2, y 1, image 1, channel 1 of dimensions 5, 4, 1, 3, 2.
  const size_t place = 2 + 5 * (1 + 4 * (1 + 3 * 1));
  EXPECT_EQ(at_byte<float>(bytes, 352 + 4 * place), images[1][1][1][2].item<float>());
  EXPECT_EQ(at_byte<int16_t>(format_nifti(images.narrow(1, 0, 1)), 40), 4);
}

TEST(Nifti, IsWrittenAsAFile) {
  const auto path = test::scratch() / "x.nii";
  const auto image = at::ones({1, 3, 3}).transpose(1, 2);
  write_nifti(path, image);
  EXPECT_EQ(read_file(path), format_nifti(image));
}

TEST(Nifti, RefusesWhatItCannotHold) {
  EXPECT_THROW(format_nifti(at::zeros({3})), std::invalid_argument);
  EXPECT_THROW(format_nifti(at::zeros({1, 2, 2}, at::kComplexFloat)), std::invalid_argument);
  EXPECT_THROW(format_nifti(at::zeros({1, 2, 2}), 0), std::invalid_argument);
  EXPECT_TRUE(test::contains(test::message_of([] {
                               format_nifti(at::zeros({1, 1, 40000}));
                             }),
                             "NIfTI: expected 1 to 32767 in each dimension, found 40000"));
}

}  // namespace
}  // namespace penumbra::io
