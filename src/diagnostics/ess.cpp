/// Effective sample size; the formula is in convergence.h.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "diagnostics/blocks.h"
#include "diagnostics/convergence.h"

namespace penumbra::diagnostics {
namespace {

// V_t = mean over chains and i of (x_{i+t} - x_i)^2 for t = 0 .. T-1, [T, pixels]. The cross terms are a correlation,
// by Fourier transform; zero padding to 2T keeps it from wrapping around.
Tensor variogram(const Tensor& x) {
  const auto T = x.size(0), chains = x.size(1);
  const auto power = at::fft_rfft(x, 2 * T, 0).abs().square().sum(1);
  const auto products = at::fft_irfft(power, 2 * T, 0).narrow(0, 0, T);
  const auto squares = x.square().sum(1);
  const auto first = squares.cumsum(0).flip(0);         // sum over i < T - t
  const auto last = squares.flip(0).cumsum(0).flip(0);  // sum over i >= t
  const auto pairs = static_cast<double>(chains) * at::arange(T, 0, -1, at::kDouble).unsqueeze(1);
  return (first + last - 2 * products) / pairs;
}

// Variance of the target: within and between the chains; one chain has only its own.
Tensor pooled_variance(const Tensor& x, const Tensor& chain_means) {
  const auto T = static_cast<double>(x.size(0));
  const auto within = x.square().sum(0).mean(0) / (T - 1);
  if (x.size(1) == 1) return within;
  return within * ((T - 1) / T) + variance(chain_means, 0);
}

// 1 + 2 sum_t (1 - t/T) rho_t over the pairs (rho_2k, rho_2k+1): up to the first whose sum is not positive, none
// larger than the one before.
Tensor correlation_time(const Tensor& rho) {
  const auto T = rho.size(0), pairs = T / 2;
  const auto weighted = rho * (1 - at::arange(T, at::kDouble) / static_cast<double>(T)).unsqueeze(1);
  const auto sums = weighted.narrow(0, 0, 2 * pairs).reshape({pairs, 2, -1}).sum(1);
  const auto before_the_cut = (sums > 0).to(at::kDouble).cumprod(0);
  const auto monotone = std::get<0>(sums.cummin(0));
  return 2 * (monotone * before_the_cut).sum(0) - 1;
}

}  // namespace

Tensor ess(const Tensor& draws) {
  return by_blocks(draws, [](const Tensor& block) {
    const auto T = block.size(0), chains = block.size(1);
    const auto count = static_cast<double>(T * chains);
    const auto all = at::full({block.size(2)}, count, at::kDouble);
    if (T < 4) return at::where(is_constant(block), all, at::full_like(all, static_cast<double>(chains)));
    const auto chain_means = block.mean(0);
    const auto x = block - chain_means;
    const auto total = pooled_variance(x, chain_means);
    const auto tau = correlation_time(1 - variogram(x) / (2 * total));
    // Draws that alternate can be worth more than independent ones; Stan's limit on how much more.
    const auto result = count / tau.clamp_min(std::min(1.0, 1 / std::log10(count)));
    return at::where(is_constant(block), all, at::where(total.isfinite(), result, total));
  });
}

}  // namespace penumbra::diagnostics
