#include <gtest/gtest.h>

#include "diagnostics/chains.h"
#include "diagnostics/convergence.h"

namespace penumbra::diagnostics {
namespace {

using test::autoregressive;
using test::number;

/// N / (1 + 2 sum (1 - t/T) rho^t): what the variance of the mean of T records of an AR(1) chain implies.
double exact_ess(double rho, int64_t T, int64_t chains) {
  double tau = 1;
  for (int64_t t = 1; t < T; ++t) tau += 2 * (1 - double(t) / double(T)) * std::pow(rho, t);
  return double(T * chains) / tau;
}

/// The formula of convergence.h for one pixel's draws [T, chains], term by term.
double plain_ess(const Tensor& draws) {
  const int64_t T = draws.size(0), chains = draws.size(1);
  const double n = double(T);
  const auto means = draws.mean(0);
  const double within = number((draws - means).square().sum()) / (n - 1) / double(chains);
  const double total = (n - 1) / n * within + number(means.var(0));
  const auto weighted = [&](int64_t t) {
    const auto steps = draws.narrow(0, t, T - t) - draws.narrow(0, 0, T - t);
    return (1 - double(t) / n) * (1 - number(steps.square().mean()) / (2 * total));
  };
  double tau = -1, before = INFINITY;
  for (int64_t t = 0; t + 1 < T; t += 2) {
    const double pair = weighted(t) + weighted(t + 1);
    if (pair <= 0) break;
    before = std::min(before, pair);
    tau += 2 * before;
  }
  return n * double(chains) / std::max(tau, 1 / std::log10(n * double(chains)));
}

TEST(Ess, EqualsTheFormulaTermByTerm) {
  for (const int64_t T : {4, 5, 30, 101}) {
    const auto draws = autoregressive(0.9, {T, 3, 20});
    const auto size = ess(draws);
    for (int64_t pixel = 0; pixel < 20; ++pixel)
      EXPECT_NEAR(number(size[pixel]) / plain_ess(draws.select(2, pixel)), 1, 1e-9) << T << " " << pixel;
  }
}

// Within a tenth in the median over 200 pixels: one pixel's estimate scatters by a few tenths for rho = 0.9, and
// cutting the sum at the first non-positive pair biases it by a few percent.
TEST(Ess, OfAutoregressiveChainsIsExact) {
  for (const double rho : {0.0, 0.3, 0.6, 0.9}) {
    const auto size = number(ess(autoregressive(rho, {1000, 4, 200})).median());
    EXPECT_NEAR(size / exact_ess(rho, 1000, 4), 1, 0.1) << rho;
    EXPECT_NEAR(size / (4000 * (1 - rho) / (1 + rho)), 1, 0.12) << rho;
  }
}

// The ESS is defined by the variance of the mean: measure that over pixels, and compare.
TEST(Ess, PredictsTheVarianceOfTheMean) {
  const auto draws = autoregressive(0.8, {200, 10, 2000});
  const auto variance = number(draws.mean(at::IntArrayRef({0, 1})).square().mean());
  // 2000 squares: SD sqrt(2 / 2000) = 3 %.
  EXPECT_NEAR(number((1 / ess(draws)).mean()) / variance, 1, 5 * 0.032);
}

TEST(Ess, CountsOneDrawForAChainThatDoesNotMove) {
  const auto stuck = test::independent({1, 32, 50}).repeat({20, 1, 1});
  EXPECT_NEAR(number(ess(stuck).max()), 32, 1e-6);
  EXPECT_NEAR(number(ess(stuck).min()), 32, 1e-6);
}

// Many short chains: eight records, far fewer than the correlation time of 39.
TEST(Ess, IsRightForManyShortChains) {
  for (const double rho : {0.0, 0.5, 0.95}) {
    const auto size = number(ess(autoregressive(rho, {8, 1000, 200})).median());
    EXPECT_NEAR(size / exact_ess(rho, 8, 1000), 1, 0.05) << rho;
  }
}

TEST(Ess, OfAlternatingChainsExceedsTheNumberOfDraws) {
  const auto size = ess(autoregressive(-0.5, {1000, 4, 50}));
  EXPECT_GT(number(size.median()), 4000 * 2);
  EXPECT_LE(number(size.max()), 4000 * std::log10(4000.0) * (1 + 1e-12));
}

TEST(Ess, IsTheNumberOfChainsForAFewRecords) {
  EXPECT_TRUE((ess(test::independent({3, 25, 4})) == 25).all().item<bool>());
}

TEST(Ess, WorksForOneChain) {
  const auto size = number(ess(autoregressive(0.5, {4000, 1, 100})).median());
  EXPECT_NEAR(size / exact_ess(0.5, 4000, 1), 1, 0.1);
}

TEST(Ess, OfABrokenPixelIsNotANumber) {
  auto draws = test::independent({10, 4, 2});
  draws[3][1][0] = std::nan("");
  const auto size = ess(draws);
  EXPECT_TRUE(std::isnan(number(size[0])));
  EXPECT_TRUE(std::isfinite(number(size[1])));
}

}  // namespace
}  // namespace penumbra::diagnostics
