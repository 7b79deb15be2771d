#include "diagnostics/similarity.h"

#include <gtest/gtest.h>

#include "diagnostics/chains.h"

namespace penumbra::diagnostics {
namespace {

Tensor noise(int64_t k, at::IntArrayRef shape) {
  return normal({12, 0, k}, Stream::truth, at::empty(shape, at::kDouble));
}

// The one window of an 11 x 11 image, summed from the definition.
TEST(Ssim, EqualsTheDefinitionInOneWindow) {
  const auto a = noise(0, {1, 11, 11}), b = 0.7 * a + 0.3 + 0.2 * noise(1, {1, 11, 11});
  double total = 0, sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (int64_t i = 0; i < 11; ++i)
    for (int64_t j = 0; j < 11; ++j) {
      const double w = std::exp(-double((i - 5) * (i - 5) + (j - 5) * (j - 5)) / (2 * 1.5 * 1.5));
      const double x = a[0][i][j].item<double>(), y = b[0][i][j].item<double>();
      total += w, sum_a += w * x, sum_b += w * y, aa += w * x * x, bb += w * y * y, ab += w * x * y;
    }
  const double ma = sum_a / total, mb = sum_b / total, c1 = 0.02 * 0.02, c2 = 0.06 * 0.06;
  const double va = aa / total - ma * ma, vb = bb / total - mb * mb, cov = ab / total - ma * mb;
  const double expected = (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
  EXPECT_NEAR(*ssim(a, b, 2), expected, 1e-13);
}

TEST(Ssim, OfConstantImagesHasAClosedForm) {
  const auto a = at::full({2, 20, 16}, 0.5, at::kDouble), b = at::full({2, 20, 16}, 0.25, at::kDouble);
  EXPECT_NEAR(*ssim(a, b, 1), (2 * 0.125 + 1e-4) / (0.25 + 0.0625 + 1e-4), 1e-12);
}

TEST(Ssim, IsOneForEqualImagesAndSmallForUnrelatedOnes) {
  const auto a = noise(0, {3, 64, 64});
  EXPECT_NEAR(*ssim(a, a, 2), 1, 1e-12);
  EXPECT_LT(std::abs(*ssim(a, noise(1, {3, 64, 64}), 2)), 0.05);
}

TEST(Ssim, DoesNotExistForImagesSmallerThanTheWindow) {
  EXPECT_FALSE(ssim(noise(0, {1, 10, 64}), noise(1, {1, 10, 64}), 2));
}

// By hand: ranks 1.5, 1.5, 3, 4 and 1, 2, 3, 4; covariance sum 4.5, squares 4.5 and 5.
TEST(RankCorrelation, SharesRanksBetweenEqualValues) {
  const auto a = at::tensor({1.0, 1.0, 2.0, 9.0}, at::kDouble), b = at::tensor({0.1, 0.2, 0.3, 0.4}, at::kDouble);
  EXPECT_NEAR(*rank_correlation(a, b), 4.5 / std::sqrt(22.5), 1e-14);
}

TEST(RankCorrelation, SeesOnlyTheOrder) {
  const auto a = noise(0, {1, 50, 50});
  EXPECT_NEAR(*rank_correlation(a, a.exp()), 1, 1e-12);
  EXPECT_NEAR(*rank_correlation(a, -a.pow(3)), -1, 1e-12);
  // 2500 unrelated values: SD 1 / sqrt(2499).
  EXPECT_LT(std::abs(*rank_correlation(a, noise(1, {1, 50, 50}))), 5 / 50.0);
  EXPECT_FALSE(rank_correlation(a, a * std::nan("")));
}

}  // namespace
}  // namespace penumbra::diagnostics
