#include "theory/stein.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "support/numbers.h"

namespace penumbra::theory {
namespace {

using test::noise;

/// The definition, pair by pair.
struct Direct {
  double u = 0, v = 0;
  Direct(const Tensor& X, const Tensor& S, double c) {
    const auto N = X.size(0), n = X.size(1);
    const auto count = static_cast<double>(N);
    const auto x = X.accessor<double, 2>(), s = S.accessor<double, 2>();
    for (int64_t i = 0; i < N; ++i)
      for (int64_t j = 0; j < N; ++j) {
        double r2 = 0, ss = 0, moment = 0;
        for (int64_t a = 0; a < n; ++a) {
          const double d = x[i][a] - x[j][a];
          r2 += d * d, ss += s[i][a] * s[j][a], moment += (s[i][a] - s[j][a]) * d;
        }
        const double q = c * c + r2;
        const double h =
            ss * std::pow(q, -0.5) + (moment + static_cast<double>(n)) * std::pow(q, -1.5) - 3 * r2 * std::pow(q, -2.5);
        v += h / (count * count);
        if (i != j) u += h / (count * (count - 1));
      }
  }
};

TEST(Stein, IsTheDoubleSumOfItsDefinition) {
  const auto x = noise(1, {23, 4}) + 3, s = noise(2, {23, 4});
  const auto stein = kernel_stein(x, s, {.length = 1.3});
  const Direct direct(x, s, 1.3);
  EXPECT_NEAR(stein.u_statistic / direct.u, 1, 1e-12);
  EXPECT_NEAR(stein.v_statistic / direct.v, 1, 1e-12);
}

TEST(Stein, LengthIsTheMedianDistance) {
  const auto x = at::tensor({0.0, 1.0, 3.0}, at::kDouble).unsqueeze(1);  // distances 1, 2, 3
  EXPECT_NEAR(kernel_stein(x, -x).length, 2, 1e-12);
}

TEST(Stein, RejectsTheRightGaussianAboutAsOftenAsItSays) {
  int rejections = 0;
  for (uint64_t trial = 0; trial < 100; ++trial) {
    const auto x = noise(100 + trial, {100, 3});
    rejections += kernel_stein(x, -x, {.bootstrap = 400, .level = 0.1, .seed = trial}).rejected();
  }
  EXPECT_GE(rejections, 2);  // 10 expected; outside 2..20 has probability below 0.3 %
  EXPECT_LE(rejections, 20);
}

struct Inflated {
  int64_t n;
  double factor;  ///< of the standard deviation; N = 1000 exceeds 17 f^4 sqrt(n) / (f^2 - 1)^2
};

class SteinDimension : public testing::TestWithParam<Inflated> {};

TEST_P(SteinDimension, AcceptsTheRightGaussianAndRejectsAShiftedAndAnInflatedOne) {
  const auto [n, factor] = GetParam();
  const auto x = noise(5, {1000, n});
  const auto right = kernel_stein(x, -x);
  EXPECT_FALSE(right.rejected());
  EXPECT_GT(right.p_value, 0.05);
  const auto shifted = kernel_stein(x, -(x - 0.3));
  EXPECT_TRUE(shifted.rejected());
  EXPECT_LT(shifted.p_value, 0.01);
  const auto inflated = kernel_stein(factor * x, -factor * x);
  EXPECT_TRUE(inflated.rejected());
  EXPECT_LT(inflated.p_value, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, SteinDimension, testing::Values(Inflated{2, 1.3}, Inflated{256, 1.6}),
                         [](const auto& info) { return std::to_string(info.param.n); });

TEST(Stein, RefusesScoresOfAnotherShape) {
  EXPECT_THROW(kernel_stein(noise(1, {5, 2}), noise(1, {4, 2})), InputError);
  EXPECT_THROW(kernel_stein(at::zeros({5, 2}, at::kDouble), at::zeros({5, 2}, at::kDouble)), InputError);
}

}  // namespace
}  // namespace penumbra::theory
