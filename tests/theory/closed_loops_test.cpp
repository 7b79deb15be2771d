#include "theory/closed_loops.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/quadrature.h"
#include "core/random.h"
#include "priors/gaussian_mixture.h"
#include "support/numbers.h"

namespace penumbra::theory {
namespace {

using test::largest;
using test::noise;

/// Three Gaussians of unlike widths in six pixels.
GaussianMixture three_modes() {
  std::vector<Component> components;
  for (int j = 0; j < 3; ++j)
    components.push_back(
        {1.0 + j, noise(10 + j, {6}), Covariance::diagonal(at::full({6}, 0.5 + 0.5 * j, at::kDouble))});
  return GaussianMixture({1, 2, 3}, components);
}

/// x -> omega (-x_1, x_0) in the first two pixels: curl 2 omega.
Tensor rotation(const Tensor& x, double omega) {
  auto turned = at::zeros_like(flat(x));
  turned.select(1, 0).copy_(-omega * flat(x).select(1, 1));
  turned.select(1, 1).copy_(omega * flat(x).select(1, 0));
  return turned.reshape_as(x);
}

/// Signed area of the triangles' shadows on the plane of the first two pixels, [N].
Tensor area(const Tensor& corners) {
  const auto plane = corners.flatten(2).narrow(2, 0, 2);
  const auto a = plane.select(1, 1) - plane.select(1, 0), b = plane.select(1, 2) - plane.select(1, 0);
  return (a.select(1, 0) * b.select(1, 1) - a.select(1, 1) * b.select(1, 0)) / 2;
}

TEST(ClenshawCurtis, IsExactUpToItsDegreeAndNests) {
  for (const int intervals : {2, 4, 8, 16}) {
    for (int degree = 0; degree <= intervals; ++degree) {
      double integral = 0;
      for (const auto& [x, w] : clenshaw_curtis(intervals)) integral += w * std::pow(x, degree);
      EXPECT_NEAR(integral, 1.0 / (degree + 1), 1e-14) << intervals << ", " << degree;
    }
    const auto fine = clenshaw_curtis(2 * intervals), coarse = clenshaw_curtis(intervals);
    for (int k = 0; k <= intervals; ++k) EXPECT_NEAR(fine[2 * k].first, coarse[k].first, 1e-15);
  }
}

// Smooth on the scale of the triangles: 64 intervals leave rounding, 1e-12 of works of some ten nats.
TEST(ClosedLoops, OfAMixtureAreZeroAndTheirSidesItsLogDensity) {
  const auto mixture = three_modes();
  const ScoreField score = [&](const Tensor& x) { return mixture.score(x, 0.3); };
  const auto corners = 2 * noise(1, {20, 3, 1, 2, 3});
  const auto found = closed_loops(score, corners, {.intervals = 64});
  const auto log_p = mixture.log_density(corners.flatten(0, 1), 0.3)->reshape({20, 3});
  EXPECT_LT(largest(found.work - (log_p.roll(-1, 1) - log_p)), 1e-8);
  EXPECT_LT(largest(found.circulation), 1e-8);
  EXPECT_GT(largest(found.work), 1);
  EXPECT_EQ(found.evaluations, 20 * 3 * 64);
}

// Too few points: what is there instead of 0 is owned up to. Twice the estimate: it is that of the coarser rule.
TEST(ClosedLoops, TheQuadraturesErrorIsOwnedUpTo) {
  const auto mixture = three_modes();
  const ScoreField score = [&](const Tensor& x) { return mixture.score(x, 0.3); };
  const auto found = closed_loops(score, 6 * noise(2, {50, 3, 1, 2, 3}), {.intervals = 8});
  const double missed = found.circulation.square().mean().sqrt().item<double>();
  EXPECT_GT(missed, 1e-4);
  EXPECT_LT(missed, 2 * found.error.square().mean().sqrt().item<double>());
}

// Stokes: curl times area. The rules are exact for a linear field; the mixture's share is as above.
TEST(ClosedLoops, OfARotationAreTwiceItsSpeedTimesTheArea) {
  const auto mixture = three_modes();
  const double omega = 0.7;
  const ScoreField score = [&](const Tensor& x) { return mixture.score(x, 0.3) + rotation(x, omega); };
  const auto corners = 2 * noise(3, {20, 3, 1, 2, 3});
  const auto found = closed_loops(score, corners, {.intervals = 64});
  EXPECT_LT(largest(found.circulation - 2 * omega * area(corners)), 1e-8);
  EXPECT_GT(largest(found.circulation), 1);
}

TEST(ClosedLoops, DoNotDependOnTheBatch) {
  const auto mixture = three_modes();
  const ScoreField score = [&](const Tensor& x) { return mixture.score(x, 0.3) + rotation(x, 1); };
  const auto corners = noise(4, {3, 3, 1, 2, 3});
  const auto one = closed_loops(score, corners, {.batch = 1}), all = closed_loops(score, corners, {.batch = 1000});
  EXPECT_LT(largest(one.circulation - all.circulation), 1e-12);
  EXPECT_LT(largest(one.error - all.error), 1e-12);
}

TEST(ClosedLoops, OtherCornersAndIntervalsAreRefused) {
  const ScoreField score = [](const Tensor& x) { return -x; };
  EXPECT_THROW(closed_loops(score, noise(5, {2, 4, 1, 2, 3})), InputError);
  EXPECT_THROW(closed_loops(score, noise(5, {2, 3, 1, 2, 3}), {.intervals = 6}), InputError);
}

}  // namespace
}  // namespace penumbra::theory
