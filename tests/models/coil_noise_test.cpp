#include "models/coil_noise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/scan.h"

namespace penumbra {
namespace {

/// Noise of a known covariance: 4 coils of different strengths, neighbours correlated.
struct CoilNoise : testing::Test {
  static constexpr int64_t coils = 4, count = 20000;
  Tensor colour = (at::diag(at::tensor({0.5, 1.0, 1.5, 3.0}, at::kDouble)).to(at::kComplexDouble) +
                   0.3 * test::complex_noise({coils, coils}, 1))
                      .tril();
  Tensor covariance = colour.matmul(colour.conj().t());
  Tensor noise = colour.matmul(test::complex_noise({coils, count}, 2));

  double error(const Tensor& estimate) const {
    // Relative to the truth in every direction: the largest eigenvalue of L^-1 (E - Sigma) L^-H.
    const auto half = at::linalg_solve(colour, estimate - covariance);
    const auto both = at::linalg_solve(colour, half.conj().t());
    return at::linalg_eigvalsh(both).abs().max().item<double>();
  }
};

// A variance from N complex samples has the relative error 1/sqrt(N) = 0.7 %; the largest over the directions of four
// coils is about (1 + sqrt(4/N))^2 - 1 = 2.8 %.
TEST_F(CoilNoise, OfANoiseScan) { EXPECT_LT(error(noise_covariance(noise)), 0.04); }

TEST_F(CoilNoise, RobustIsConsistent) { EXPECT_LT(error(robust_noise_covariance(noise)), 0.05); }

TEST_F(CoilNoise, RobustDoesNotMindAFewLargeSamples) {
  auto spoilt = noise.clone();
  spoilt.narrow(1, 0, count / 50).mul_(100);  // two percent
  EXPECT_LT(error(robust_noise_covariance(spoilt)), 0.07);
  EXPECT_GT(error(noise_covariance(spoilt)), 10);
}

TEST_F(CoilNoise, OneCoil) {
  const auto one = noise.narrow(0, 0, 1);
  const double exact = std::real(covariance[0][0].item<c10::complex<double>>());
  // The trimmed mean of exponential numbers has about 2.5 times the variance of the mean: 4 x 1.6 x 0.7 % = 4.5 %.
  EXPECT_NEAR(at::real(robust_noise_covariance(one)).item<double>() / exact, 1, 0.045);
}

TEST(OutermostSamples, AreTheFarthestOfTheMeasuredOnes) {
  auto mask = at::ones({10, 10}, at::kBool);
  mask.narrow(0, 0, 1).zero_();
  const auto kspace = at::arange(100, at::kDouble).view({1, 10, 10}).to(at::kComplexDouble);
  const auto samples = at::real(outermost_samples(kspace, mask, 0.04)).flatten();
  // 3 of 90 points: the left corners of what is measured and the next to one of them.
  EXPECT_EQ(samples.size(0), 3);
  EXPECT_TRUE(samples.eq(10).any().item<bool>());
  EXPECT_TRUE(samples.eq(90).any().item<bool>());
  EXPECT_TRUE(samples.ge(10).all().item<bool>());
}

}  // namespace
}  // namespace penumbra
