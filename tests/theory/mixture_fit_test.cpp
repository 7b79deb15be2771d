#include "theory/mixture_fit.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra::theory {
namespace {

using test::noise;
using test::relative_error;
using test::tensor;

Tensor two_groups(int64_t left, int64_t right, double distance) {
  const auto shift = at::tensor({distance, 0.0}, at::kDouble);
  return at::cat({noise(1, {left, 2}), noise(2, {right, 2}) + shift});
}

TEST(MixtureFit, IsTheConvergedStoredFit) {
  const auto expected = test::vectors("em_fit.json");
  const auto fit = fit_mixture(tensor(expected["X"]), {.tolerance = 1e-14});
  EXPECT_TRUE(fit.converged);
  EXPECT_LT(relative_error(fit.mixture.weights, tensor(expected["w"])), 1e-7);
  EXPECT_LT(relative_error(fit.mixture.means, tensor(expected["mu"])), 1e-7);
  EXPECT_LT(relative_error(fit.mixture.covariances, tensor(expected["S"])), 1e-7);
  EXPECT_NEAR(fit.mean_log_likelihood / expected["mean_loglik"].get<double>(), 1, 1e-9);
}

TEST(MixtureFit, OneComponentIsTheSampleMeanAndCovariance) {
  const auto points = noise(7, {500, 3}) * at::tensor({1.0, 2.0, 0.5}, at::kDouble);
  const auto fit = fit_mixture(points, {.components = 1});
  const auto mean = points.mean(0), centred = points - mean;
  EXPECT_LT(relative_error(fit.mixture.means[0], mean), 1e-12);
  EXPECT_LT(relative_error(fit.mixture.covariances[0], centred.t().mm(centred) / 500), 1e-10);
}

TEST(MixtureFit, FindsASmallFarGroup) {
  for (const int64_t few : {1, 3, 10}) {
    const auto fit = fit_mixture(two_groups(1000 - few, few, 40));
    EXPECT_NEAR(fit.mixture.weights[1].item<double>(), static_cast<double>(few) / 1000, 1e-9);
    EXPECT_NEAR(fit.mixture.means[1][0].item<double>(), 40, 3);
    // A group with too few points for a covariance borrows the other's: no spike, nothing singular.
    EXPECT_GT(at::linalg_eigvalsh(fit.mixture.covariances[1]).min().item<double>(), 0.1);
  }
}

TEST(MixtureFit, SurvivesPointsOnALine) {
  auto points = two_groups(50, 50, 20);
  points.select(1, 1).zero_();
  const auto fit = fit_mixture(points);
  EXPECT_TRUE(fit.mixture.covariances.isfinite().all().item<bool>());
  EXPECT_NEAR(fit.mixture.weights[0].item<double>(), 0.5, 1e-6);
}

TEST(MixtureFit, ThreeGroupsInFiveDimensions) {
  auto points = noise(3, {900, 5});
  points.narrow(0, 300, 300).add_(15);
  points.narrow(0, 600, 300).sub_(15);
  const auto fit = fit_mixture(points, {.components = 3});
  EXPECT_LT((fit.mixture.weights - 1.0 / 3).abs().max().item<double>(), 1e-9);
  for (int64_t j = 0; j < 3; ++j)
    EXPECT_LT((fit.mixture.means[j] - 15.0 * static_cast<double>(j - 1)).abs().max().item<double>(), 0.3);
}

TEST(MixtureFit, RefusesWhatCannotBeFitted) {
  EXPECT_THROW(fit_mixture(at::zeros({1, 2}, at::kDouble)), InputError);
  EXPECT_THROW(fit_mixture(at::zeros({10, 2}, at::kDouble)), InputError);
  EXPECT_THROW(fit_mixture(at::full({10, 2}, NAN, at::kDouble)), InputError);
}

}  // namespace
}  // namespace penumbra::theory
