/// Heun's method against the flow of a Gaussian, which is known: mode by mode, with variance c,
/// x(sigma) - m = sqrt((c + sigma^2) / (c + sigma_max^2)) (x(sigma_max) - m).
#include "samplers/heun.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "priors/clamped_sigma.h"
#include "priors/gaussian_mixture.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::float64;
using test::in_double;
using test::relative_error;

const Tensor C = at::tensor({1.0, 0.4, 0.1, 0.4, 0.5, -0.2, 0.1, -0.2, 0.3}, float64).reshape({3, 3});
const Tensor m = at::tensor({1.0, -0.5, 2.0}, float64);

GaussianMixture gaussian() { return GaussianMixture({1, 1, 3}, {{1, m, Covariance::full(C)}}); }

/// 0.3 N(2.1, 0.3^2) + 0.7 N(-0.9, 0.3^2), of mean 0.
GaussianMixture two_modes() {
  const auto S = Covariance::diagonal(at::full({1}, 0.09, float64));
  return GaussianMixture({1, 1, 1}, {{0.3, at::full({1}, 2.1, float64), S}, {0.7, at::full({1}, -0.9, float64), S}});
}

/// The exact flow from sigma_max to sigma, for rows.
Tensor flow(const Tensor& rows, double sigma_max, double sigma) {
  const auto [c, Q] = at::linalg_eigh(C);
  const auto scale = ((c + sigma * sigma) / (c + sigma_max * sigma_max)).sqrt();
  return m + ((rows - m).matmul(Q) * scale).matmul(Q.t());
}

std::vector<double> grid_without_zero(int64_t steps, double sigma_max, double sigma_min) {
  auto sigmas = rho_grid(steps + 1, sigma_max, sigma_min);
  sigmas.pop_back();
  return sigmas;
}

TEST(Heun, TheErrorFallsWithTheSquareOfTheStep) {
  const auto prior = gaussian();
  const double sigma_max = 20, sigma_min = 0.01;
  const auto start = heun_start(prior, 20, sigma_max, {1, 0, 0}, in_double);
  const auto exact = flow(flat(start), sigma_max, sigma_min);
  const auto error = [&](int64_t steps) {
    const auto x = heun(prior, start, {.sigmas = grid_without_zero(steps, sigma_max, sigma_min)}, {1, 0, 0});
    return (flat(x) - exact).norm().item<double>();
  };
  const double coarse = error(32), middle = error(64), fine = error(128);
  // Euler's method would give 2; the next order changes 4 by a few per cent.
  EXPECT_NEAR(coarse / middle, 4, 0.25);
  EXPECT_NEAR(middle / fine, 4, 0.12);
}

TEST(Heun, ReachesTheFlowsEndAtZero) {
  const auto prior = gaussian();
  const auto start = heun_start(prior, 20, 20, {2, 0, 0}, in_double);
  // The last step is a denoising: it misses the flow by sigma_min^2 / (2 c), here 2e-5; the steps before by 3e-4.
  const auto x = heun(prior, start, {.sigmas = rho_grid(129, 20, 0.002)}, {2, 0, 0});
  EXPECT_LT(relative_error(flat(x), flow(flat(start), 20, 0)), 1e-3);
}

TEST(Heun, AStepIsItsFormula) {
  const auto prior = two_modes();
  const auto x = heun_start(prior, 5, 3, {3, 40, 0}, in_double);
  const double gamma = 0.25, hat = 3 * (1 + gamma), next = 1.2;
  const Churn churn{.amount = 0.5, .low = 2, .high = 4, .noise = 1.003};
  // The second step, at 1.2, is below churn.low, and goes to 0.
  const auto y = heun(prior, x, {.sigmas = {3, next, 0}, .churn = churn}, {3, 40, 0});
  const auto z = normal({3, 40, 0}, Stream::churn, x);
  const auto x_hat = x + 1.003 * std::sqrt(hat * hat - 9) * z;
  const auto slope = [&](const Tensor& v, double sigma) { return -sigma * prior.score(v, sigma); };
  const auto d = slope(x_hat, hat);
  const auto middle = x_hat + (next - hat) / 2 * (d + slope(x_hat + (next - hat) * d, next));
  EXPECT_LT(relative_error(y, middle - next * slope(middle, next)), 1e-12);
}

/// Mean and covariance of the images against m and C, within 4 standard errors. The start at N(0, sigma_max^2) instead
/// of N(m, C + sigma_max^2) shifts the mean by m sqrt(c) / sigma_max.
void expect_gaussian_law(const Tensor& images, double sigma_max) {
  const auto rows = flat(images);
  const auto N = static_cast<double>(rows.size(0));
  const auto shift = m.abs() / sigma_max;
  EXPECT_TRUE(((rows.mean(0) - m).abs() < 4 * (C.diagonal() / N).sqrt() + shift).all().item<bool>()) << rows.mean(0);
  const auto centred = rows - rows.mean(0);
  const auto products = centred.unsqueeze(2) * centred.unsqueeze(1);
  const auto z = (products.mean(0) - C) / (products.std(0) / std::sqrt(N));
  EXPECT_LT(z.abs().max().item<double>(), 4) << products.mean(0);
}

TEST(Heun, DrawsHaveTheGaussiansCovariance) {
  const auto prior = gaussian();
  const Cursor at{4, 0, 0};
  expect_gaussian_law(heun(prior, heun_start(prior, 20000, 80, at, in_double), {.sigmas = rho_grid(96, 80, 0.002)}, at),
                      80);
}

TEST(Heun, ChurnKeepsTheLaw) {
  const auto prior = gaussian();
  const Cursor at{5, 0, 0};
  const HeunOptions options{.sigmas = rho_grid(192, 80, 0.002), .churn = {.amount = 40}};
  expect_gaussian_law(heun(prior, heun_start(prior, 20000, 80, at, in_double), options, at), 80);
}

TEST(Heun, FindsBothModesWithTheirWeights) {
  const auto prior = two_modes();
  const int64_t N = 20000;
  for (const double amount : {0.0, 20.0}) {
    const Cursor at{6, 0, 0};
    const HeunOptions options{.sigmas = rho_grid(64, 80, 0.002), .churn = {.amount = amount}};
    const auto x = heun(prior, heun_start(prior, N, 80, at, in_double), options, at);
    // Both modes end five standard deviations from 0.6. 4 standard errors of the fraction.
    EXPECT_NEAR(x.gt(0.6).to(at::kDouble).mean().item<double>(), 0.3, 4 * std::sqrt(0.21 / N)) << amount;
    const auto upper = x.masked_select(x > 0.6);
    EXPECT_NEAR(upper.mean().item<double>(), 2.1, 4 * 0.3 / std::sqrt(0.3 * N) + 0.3 / 80) << amount;
    EXPECT_NEAR(upper.std().item<double>(), 0.3, 4 * 0.3 / std::sqrt(2 * 0.3 * N) + 0.002) << amount;
  }
}

TEST(Heun, AnImageDoesNotDependOnItsBatch) {
  const auto prior = two_modes();
  const auto draw = [&](int64_t first, int64_t count, uint64_t seed) {
    const Cursor at{seed, first, 0};
    const HeunOptions options{.sigmas = rho_grid(12, 10, 0.01), .churn = {.amount = 4}};
    return heun(prior, heun_start(prior, count, 10, at, in_double), options, at);
  };
  const auto all = draw(0, 10, 7);
  EXPECT_LT(relative_error(at::cat({draw(0, 3, 7), draw(3, 7, 7)}), all), 1e-13);
  EXPECT_GT(relative_error(draw(0, 10, 8), all), 0.1);
}

/// N(0, 1), known up to sigma = 5.
class Limited final : public Score {
 public:
  Limited() : Score({1, 1, 1}) {}
  SigmaRange sigma_range() const override { return {0.01, 5}; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor&) const override { return -x / (1 + sigma * sigma); }
};

TEST(Heun, ChurnStaysWithinWhatThePriorKnows) {
  const Limited prior;
  const Cursor at{9, 0, 0};
  const HeunOptions options{.sigmas = rho_grid(20, 5, 0.01), .churn = {.amount = 20}};
  EXPECT_NO_THROW(heun(prior, heun_start(prior, 2, 5, at, in_double), options, at));
  const ClampedSigmaScore clamped(std::make_shared<Limited>());
  heun(clamped, heun_start(clamped, 2, 5, at, in_double), options, at);
  EXPECT_EQ(clamped.clamped_count(), 0);
  EXPECT_THROW(heun(prior, heun_start(prior, 2, 6, at, in_double), {.sigmas = rho_grid(20, 6, 0.01)}, at), InputError);
}

TEST(Heun, TheGridIsEvenInThePowerAndExactAtItsEnds) {
  const auto sigmas = rho_grid(5, 80, 0.002);
  ASSERT_EQ(sigmas.size(), 6);
  EXPECT_EQ(sigmas[0], 80);
  EXPECT_EQ(sigmas[4], 0.002);
  EXPECT_EQ(sigmas[5], 0);
  const double a = std::pow(80, 1.0 / 7), b = std::pow(0.002, 1.0 / 7);
  EXPECT_NEAR(sigmas[1], std::pow(0.75 * a + 0.25 * b, 7), 1e-12 * sigmas[1]);
  EXPECT_EQ(rho_grid(1, 3, 0.1), (std::vector<double>{3, 0}));
}

TEST(Heun, RefusesLevelsThatDoNotFall) {
  const auto prior = two_modes();
  const auto x = heun_start(prior, 1, 1, {}, in_double);
  for (const auto& sigmas : {std::vector<double>{}, {1}, {1, 1}, {1, 2}, {1, -0.5}, {1, NAN}, {NAN, 0}})
    EXPECT_THROW(heun(prior, x, {.sigmas = sigmas}, {}), InputError);
  EXPECT_THROW(rho_grid(0, 1, 0.1), InputError);
  EXPECT_THROW(rho_grid(5, 1, 1), InputError);
  EXPECT_THROW(rho_grid(5, 1, 0), InputError);
  EXPECT_THROW(rho_grid(5, 1, 0.1, 0), InputError);
}

}  // namespace
}  // namespace penumbra
