/// What every prior promises, whatever it is made of.
#pragma once

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "priors/score.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::test {

/// <J^T v, w> = <v, J w> for the denoiser's derivative J, J w by central differences along a unit vector w.
inline void expect_denoise_vjp(const Score& prior, const Tensor& x, double sigma, double rounding) {
  const bool exact = rounding < 1e-8;
  const double h = exact ? 1e-5 : 1e-2, tolerance = exact ? 1e-7 : 2e-3;
  const auto v = normal({31, 0, 3}, Stream::probe, x);
  auto w = normal({31, 0, 4}, Stream::probe, x);
  w = w / per_chain(norm_per_chain(w), w);
  const auto at_x = prior.denoise_vjp(x, sigma);
  EXPECT_LT((at_x.denoised - prior.denoise(x, sigma)).abs().max().item<double>(), rounding * 10);
  EXPECT_FALSE(at_x.denoised.requires_grad());
  const auto Jw = (prior.denoise(x + h * w, sigma) - prior.denoise(x - h * w, sigma)) / (2 * h);
  const auto pulled = (at_x.vjp(v) * w).flatten(1).sum(1), pushed = (v * Jw).flatten(1).sum(1);
  EXPECT_LT((pulled - pushed).abs().max().item<double>(), tolerance * norm_per_chain(v).max().item<double>());
}

/// Each chain with a level of its own, as if it were alone.
inline void expect_denoise_vjp_each(const Score& prior, const Tensor& x, const std::vector<double>& sigmas,
                                    double rounding) {
  const auto v = normal({31, 0, 5}, Stream::probe, x);
  const auto all = prior.denoise_vjp(x, sigmas);
  const auto pulled = all.vjp(v);
  for (size_t c = 0; c < sigmas.size(); ++c) {
    const auto row = static_cast<int64_t>(c);
    const auto alone = prior.denoise_vjp(x.narrow(0, row, 1), sigmas[c]);
    EXPECT_LT(relative_error(all.denoised.narrow(0, row, 1), alone.denoised), rounding * 10) << c;
    EXPECT_LT(relative_error(pulled.narrow(0, row, 1), alone.vjp(v.narrow(0, row, 1))), rounding * 100) << c;
  }
}

/// `rounding`: 1e-12 for arithmetic in float64, 1e-5 for a network in float32.
inline void expect_prior_contract(const Score& prior, double rounding) {
  Shape shape = prior.image_shape();
  shape.insert(shape.begin(), 3);
  const auto x = normal({31, 0, 1}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kDouble)));
  const auto [low, high] = prior.sigma_range();
  for (const double sigma : {std::max(0.05, low), std::min(2.0, high)}) {
    SCOPED_TRACE(sigma);
    const auto score = prior.score(x, sigma), denoised = prior.denoise(x, sigma);
    ASSERT_EQ(score.sizes(), x.sizes());
    EXPECT_EQ(score.scalar_type(), x.scalar_type());
    // Tweedie's formula; the denoiser is a difference of numbers of the size of x.
    EXPECT_LT((x + sigma * sigma * score - denoised).abs().max().item<double>(), rounding * 10);
    expect_denoise_vjp(prior, x, sigma, rounding);
    for (int64_t c = 0; c < 3; ++c)
      EXPECT_LT(relative_error(prior.score(x.narrow(0, c, 1), sigma), score.narrow(0, c, 1)), rounding * 10);
    if (const auto log_p = prior.log_density(x, sigma)) {
      const double h = 1e-5;
      const auto v = normal({31, 0, 2}, Stream::probe, x);
      const auto slope = (*prior.log_density(x + h * v, sigma) - *prior.log_density(x - h * v, sigma)) / (2 * h);
      EXPECT_LT(relative_error((score * v).flatten(1).sum(1), slope), 1e-6);
    }
  }
  const double small = std::max(0.05, low), large = std::min(2.0, high);
  expect_denoise_vjp_each(prior, x, {small, large, large}, rounding);
  EXPECT_THROW(prior.denoise_vjp(x, std::vector<double>{small, -1, large}), InputError);
  EXPECT_THROW(prior.score(x.flatten(1), 1), InputError);
  EXPECT_THROW(prior.denoise(at::zeros({3, shape[1], shape[2], shape[3] + 1}, x.options()), 1), InputError);
  EXPECT_THROW(prior.score(x, -1), InputError);
  EXPECT_THROW(prior.score(x, std::numeric_limits<double>::quiet_NaN()), InputError);
  if (const auto draws = prior.draw(3, {})) {
    EXPECT_EQ(draws->sizes(), x.sizes());
  }
}

}  // namespace penumbra::test
