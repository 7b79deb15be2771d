/// Maximum entropy and total variation for any likelihood: cases with a known solution, independent chains.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "samplers/sampler.h"
#include "support/denoising.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::after_steps;
using test::denoising;
using test::float64;

std::unique_ptr<Sampler> make_rml(std::shared_ptr<const Likelihood> likelihood, const std::string& options) {
  return test::make_sampler("rml", std::move(likelihood), options);
}

Tensor positive_image() { return 0.2 + uniform({3, 0, 0}, Stream::truth, at::empty({1, 6, 6}, at::kDouble)); }

/// Written apart from the code under test: the Gaussian of half the field's width and mean 0.3.
double prior_pixel(int64_t i, int64_t j) {
  const double sd = 0.5 * 6 / 2.3548200450309493;
  const auto value = [&](int64_t r, int64_t c) {
    const double y = static_cast<double>(r) - 2.5, x = static_cast<double>(c) - 2.5;
    return std::exp(-(x * x + y * y) / (2 * sd * sd));
  };
  double sum = 0;
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t c = 0; c < 6; ++c) sum += value(r, c);
  return 0.3 * 36 * value(i, j) / sum;
}

/// Pixel by pixel (x - y) / beta^2 + lambda log(x / m) = 0, found by bisection.
TEST(Rml, EntropyHasItsOptimumWhereThePixelsSlopeIsZero) {
  const auto y = positive_image();
  const double beta = 0.4, lambda = 2;
  const auto sampler =
      make_rml(denoising(y, beta), "{entropy: 2, prior_mean: 0.3, prior_width: 0.5, inner_steps: 400, blur: 0.5}");
  const auto x = after_steps(*sampler, at::zeros({1, 1, 6, 6}, float64), 4);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 6; ++j) {
      const double datum = y[0][i][j].item<double>();
      double low = 1e-9, high = 10;
      for (int n = 0; n < 100; ++n) {
        const double t = (low + high) / 2;
        (((t - datum) / (beta * beta) + lambda * std::log(t / prior_pixel(i, j))) < 0 ? low : high) = t;
      }
      EXPECT_NEAR(x[0][0][i][j].item<double>(), low, 1e-4) << i << ' ' << j;
    }
}

/// Levels of widths 3 and 5 at 0.5 and 1.5 move towards each other by lambda beta^2 / width; the smoothing of 1e-3
/// takes the same from them to (1e-3)^2, and the corners of the absolute value make Adam's last digits slow.
TEST(Rml, AnEdgeLosesContrastByTheFormulaOfTotalVariation) {
  auto y = at::full({1, 4, 8}, 0.5, float64);
  y.narrow(2, 3, 5).fill_(1.5);
  const auto sampler =
      make_rml(denoising(y, 0.5), "{tv: 0.6, prior_mean: 1, smoothing: 1e-3, inner_steps: 2000, rate: 0.02, blur: 0}");
  const auto x = after_steps(*sampler, at::zeros({1, 1, 4, 8}, float64), 3);
  auto expected = at::full({1, 4, 8}, 0.5 + 0.6 * 0.25 / 3, float64);
  expected.narrow(2, 3, 5).fill_(1.5 - 0.6 * 0.25 / 5);
  EXPECT_LT((x[0] - expected).abs().max().item<double>(), 5e-3);
}

TEST(Rml, EveryCycleLowersTheObjectiveOrLeavesTheImage) {
  const auto sampler = make_rml(denoising(positive_image(), 0.1), "{entropy: 1, tv: 0.5, inner_steps: 20}");
  ChainState state{at::zeros({1, 1, 6, 6}, float64)};
  double last = sampler->step(state).objective;
  for (int k = 0; k < 6; ++k) {
    const auto before = state.x;
    const double next = sampler->step(state).objective;
    EXPECT_LE(next, last);
    if (next == last) {
      EXPECT_TRUE(state.x.equal(before));
    }
    last = next;
  }
  EXPECT_GT(state.x.min().item<double>(), 0);
}

/// black moves the image and nothing else.
TEST(Rml, BlackIsTheValueOfNoLight) {
  const auto y = positive_image();
  const auto at_zero = make_rml(denoising(y, 0.3), "{entropy: 1, inner_steps: 50}");
  const auto below = make_rml(denoising(y - 1, 0.3), "{entropy: 1, inner_steps: 50, black: -1}");
  const auto start = at::zeros({1, 1, 6, 6}, float64);
  EXPECT_LT(test::relative_error(after_steps(*below, start, 3) + 1, after_steps(*at_zero, start, 3)), 1e-9);
}

TEST(Rml, WithoutARegulariserItIsRefused) {
  const auto message = test::message_of([] { make_rml(denoising(positive_image(), 0.1), "{steps: 3}"); });
  EXPECT_TRUE(test::contains(message, "entropy: expected a weight > 0")) << message;
}

}  // namespace
}  // namespace penumbra
