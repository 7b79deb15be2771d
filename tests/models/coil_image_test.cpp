#include "models/coil_image.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "models/fourier.h"
#include "models/sampling_mask.h"
#include "support/paths.h"
#include "support/scan.h"

namespace penumbra {
namespace {

struct CoilImage : testing::Test {
  static constexpr int64_t height = 64, width = 48;
  Tensor object =
      test::phantom(height, width) * at::polar(at::ones({height, 1}, at::kDouble), at::full({1}, 0.3, at::kDouble));
  Tensor maps = test::smooth_coils(6, height, width), kspace = centred_fft(maps * object);
  Tensor everything = at::ones({height, width}, at::kBool);

  double error(const Tensor& image) const { return test::relative_distance(image, object); }
};

TEST_F(CoilImage, OfAllDataIsTheObject) {
  EXPECT_LT(error(coil_combined(kspace, maps)), 1e-12);
  EXPECT_LT(error(low_resolution_image(kspace, everything, maps)), 1e-12);
  EXPECT_LT(error(least_squares_image(kspace, everything, maps / maps.norm(2, {0}, true)) / maps.norm(2, {0}, false)),
            1e-9);
  EXPECT_LT(error(least_squares_image(centred_fft(object).unsqueeze(0), everything, {})), 1e-12);
}

TEST_F(CoilImage, LeastSquaresUnfoldsWhatTheCoilsTellApart) {
  // Every second line: with zeros for the others, the object lies over itself, half a field of view away.
  const auto mask = at::arange(width, at::kLong).remainder(2).eq(0).expand({height, width});
  EXPECT_LT(error(least_squares_image(kspace * mask, mask, maps)), 0.05);
  EXPECT_GT(error(coil_combined(kspace * mask, maps)), 0.2);
}

TEST_F(CoilImage, LowResolutionUsesTheCentreAlone) {
  auto mask = at::zeros({height, width}, at::kBool);
  around_centre(around_centre(mask, 0, 16), 1, 16).fill_(true);
  const auto low = low_resolution_image(kspace, mask, maps);
  mask[0][0] = true;  // not of the centre
  EXPECT_LT((low_resolution_image(kspace, mask, maps) - low).norm().item<double>(), 1e-12);
  EXPECT_LT(error(low), 0.5);
  EXPECT_GT(error(low), 0.05);
  EXPECT_FALSE(low_resolution_image(kspace, everything.logical_not(), maps).defined());
}

TEST(ResolvedPart, EndsWhereSignalSinksIntoTheNoise) {
  // Signal of power 100 a real component inside of half the way to the rim, noise of power one everywhere.
  const auto y = test::coordinate(64).unsqueeze(1), x = test::coordinate(96).unsqueeze(0);
  const auto inside = (y.square() + x.square()).sqrt() < 0.5, everything = at::ones({64, 96}, at::kBool);
  const auto noise = test::complex_noise({4, 64, 96}, 5);
  EXPECT_EQ(resolved_part(noise + 10 * inside * test::complex_noise({4, 64, 96}, 6), everything), 0.5);
  EXPECT_EQ(resolved_part(noise, everything), 0);
  EXPECT_EQ(resolved_part(10 * noise, everything), 1);
  // Rings without a measured point end it too.
  EXPECT_EQ(resolved_part(10 * noise, inside), 0.5);
}

TEST_F(CoilImage, ResolvedKeepsCoarseStructureAlone) {
  const auto wave = [](double cycles) {
    return at::polar(at::ones({height, width}, at::kDouble),
                     M_PI * cycles * test::coordinate(height).unsqueeze(1).expand({height, width}));
  };
  EXPECT_LT((resolved_image(object, 1) - object).norm().item<double>(), 1e-12);
  EXPECT_LT((resolved_image(wave(0), 0.5) - wave(0)).norm().item<double>(), 1e-9);
  EXPECT_LT(resolved_image(wave(20), 0.5).norm().item<double>(), 1e-9);  // beyond 16 of 32 cycles
}

TEST(WhiteLevel, LeavesThreeOfAThousandAbove) {
  const auto image = at::arange(1000, at::kDouble).view({10, 100});
  EXPECT_EQ(image.gt(white_level(image)).sum().item<int64_t>(), 3);
}

}  // namespace
}  // namespace penumbra
