/// b(x) in the place of -log p(x): against closed forms of Gaussian priors, and its gradient against differences.
#include "samplers/score_bound.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "priors/gaussian_mixture.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::in_double;
using test::numbers;

const Shape row_of_three{1, 1, 3};

struct ScoreBoundTest : testing::Test {
  Tensor mu = numbers(12, {3}, 1), factor = numbers(12, {3, 3}, 2);
  Tensor Sigma = factor.matmul(factor.t()) + 0.2 * at::eye(3, factor.options());
  std::shared_ptr<const Score> prior =
      std::make_shared<GaussianMixture>(row_of_three, std::vector{Component{1, mu, Covariance::full(Sigma)}});
  /// Two points, one of them 3 SDs out.
  Tensor near = mu + 0.3 * factor.select(1, 0), far = mu - 3 * factor.select(1, 1);

  struct Mean {
    Tensor value, error;
  };
  static Mean mean_of(const Tensor& draws) {
    return {draws.mean(0), draws.std(0) / std::sqrt(static_cast<double>(draws.size(0)))};
  }
  /// b and its gradient at one image, for `calls` independent calls: [calls] and [calls, n].
  static std::pair<Tensor, Tensor> draws(const ScoreBound& bound, const Tensor& at_image, int64_t calls = 400) {
    const auto x = at_image.view({1, 1, 1, 3}).expand({64, 1, 1, 3});
    const auto m = bound.prior_mean(in_double);
    std::vector<Tensor> values, grads;
    for (int64_t k = 0; k < calls; ++k) {
      const auto [value, grad] = bound(x, m, {5, 0, k});
      values.push_back(value.mean());
      grads.push_back(flat(grad).mean(0));
    }
    return {at::stack(values), at::stack(grads)};
  }
  double minus_log_p(const Tensor& x) const {
    return -prior->log_density(x.view({1, 1, 1, 3}), 0).value().item<double>();
  }
};

TEST_F(ScoreBoundTest, IsMinusTheLogDensityOfAGaussianPrior) {
  // Smoothing by sigma_min and the Gaussian at sigma_max change b by less than 1e-3 here.
  const ScoreBound bound(prior, {.sigma_min = 2e-3, .sigma_max = 200, .levels = 16});
  const auto b_near = draws(bound, near).first, b_far = draws(bound, far).first;
  const auto expect = [](const Tensor& found, double expected, double largest_error) {
    const auto [value, error] = mean_of(found);
    EXPECT_LT(error.item<double>(), largest_error);
    EXPECT_NEAR(value.item<double>(), expected, 4 * error.item<double>() + 1e-3);
  };
  expect(b_near, minus_log_p(near), 0.2);
  expect(b_far, minus_log_p(far), 0.2);
  // The same noise at both: the difference is known better.
  EXPECT_GT(minus_log_p(far) - minus_log_p(near), 1);
  expect(b_far - b_near, minus_log_p(far) - minus_log_p(near), 0.1);
}

TEST_F(ScoreBoundTest, SmoothingAndTheLastLevelAreInTheClosedForm) {
  // Nothing is small: -E log p_min at x + sigma_min z, less the KL at sigma_max, plus what takes its place.
  const double low = 0.4, high = 3;
  const ScoreBound bound(prior, {.sigma_min = low, .sigma_max = high, .levels = 8});
  const auto eye = at::eye(3, Sigma.options());
  const auto C_low = Sigma + low * low * eye, C_high = Sigma + high * high * eye;
  const auto precision_low = at::linalg_inv(C_low), precision_high = at::linalg_inv(C_high);
  for (const auto& x : {near, far}) {
    const auto d = x - mu;
    const auto quadratic = [&](const Tensor& precision) { return d.dot(precision.mv(d)).item<double>(); };
    const auto trace = [](const Tensor& a) { return a.trace().item<double>(); };
    const auto log_det = [](const Tensor& a) { return std::get<1>(at::linalg_slogdet(a)).item<double>(); };
    const double left =
        0.5 * (3 * std::log(2 * M_PI) + log_det(C_low) + quadratic(precision_low) + low * low * trace(precision_low));
    const double kl = 0.5 * (high * high * trace(precision_high) - 3 + quadratic(precision_high) + log_det(C_high) -
                             6 * std::log(high));
    const auto m = bound.prior_mean(in_double).flatten();
    const double instead = ((x - m).square().sum() / (2 * high * high)).item<double>();
    const auto [values, grads] = draws(bound, x);
    const auto b = mean_of(values), grad = mean_of(grads);
    EXPECT_NEAR(b.value.item<double>(), left - kl + instead, 4 * b.error.item<double>());
    const auto slope = precision_low.mv(d) - precision_high.mv(d) + (x - m) / (high * high);
    EXPECT_LT(((grad.value - slope) / grad.error).abs().max().item<double>(), 4);
  }
}

TEST_F(ScoreBoundTest, TheMeanIsThePriors) {
  const ScoreBound bound(prior, {.sigma_min = 0.1, .sigma_max = 50});
  // Four rounds from zero: (v / (v + sigma^2))^4 with v below 30.
  EXPECT_LT((bound.prior_mean(in_double).flatten() - mu).abs().max().item<double>(), 1e-7);
}

/// With the noise held the estimate is a function of x; a mixture's denoiser is not linear, so its Jacobian matters.
TEST_F(ScoreBoundTest, TheGradientIsThatOfTheEstimate) {
  const auto mixture = std::make_shared<GaussianMixture>(
      row_of_three,
      std::vector{Component{1, mu, Covariance::full(Sigma)}, Component{2, -mu, Covariance::full(0.3 * Sigma)}});
  const ScoreBound bound(mixture, {.sigma_min = 0.1, .sigma_max = 5, .levels = 3});
  const auto m = bound.prior_mean(in_double);
  const auto x = numbers(12, {7, 1, 1, 3}, 6), direction = numbers(12, {7, 1, 1, 3}, 7);
  const Cursor at{5, 2, 9};
  const double h = 1e-5;
  const auto slope = (bound(x + h * direction, m, at).value - bound(x - h * direction, m, at).value) / (2 * h);
  const auto expected = flat(bound(x, m, at).grad * direction).sum(1);
  // h^2 of the third derivative, 1e-16 / h of rounding.
  EXPECT_LT(test::relative_error(slope, expected), 1e-7);
}

TEST_F(ScoreBoundTest, EachImageHasAnUnbiasedEstimateWhateverItsPlaceInTheBatch) {
  const ScoreBound bound(prior, {.sigma_min = 0.1, .sigma_max = 5, .levels = 4});
  const auto x = near.view({1, 1, 1, 3}).expand({4, 1, 1, 3});
  const auto m = bound.prior_mean(in_double);
  std::vector<Tensor> values;
  for (int64_t k = 0; k < 4000; ++k) values.push_back(bound(x, m, {5, 0, k}).value);
  const auto [value, error] = mean_of(at::stack(values));
  const auto all = value.mean();
  EXPECT_LT(((value - all) / error).abs().max().item<double>(), 4);
}

}  // namespace
}  // namespace penumbra
