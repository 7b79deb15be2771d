#include "diagnostics/rank_histogram.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace penumbra::diagnostics {
namespace {

constexpr double alarm = 0.02;

/// The smallest k with P(Binomial(count, uneven_p) > k) at most `alarm`.
int64_t binomial_limit(int64_t count) {
  const auto n = static_cast<double>(count);
  double probability = std::pow(1 - uneven_p, n), below = probability;
  int64_t k = 0;
  while (1 - below > alarm && k < count) {
    probability *= (n - static_cast<double>(k)) / static_cast<double>(k + 1) * uneven_p / (1 - uneven_p);
    below += probability;
    ++k;
  }
  return k;
}

/// [rows, statistics] with B^T B the correlations of the places' normal scores. A bias or a wrong width of the places
/// is taken out: it is the chance of right ones that is wanted. Some simulations are enough.
Tensor correlation_factor(const Tensor& place) {
  constexpr int64_t enough = 200;
  const auto rows = place.narrow(0, 0, std::min(enough, place.size(0)));
  const auto scores = at::erfinv((2 * rows - 1).clamp(-1 + 1e-12, 1 - 1e-12));
  const auto centred = scores - scores.mean(0);
  return centred / centred.norm(2, {0}, true).clamp_min(1e-300);
}

}  // namespace

int64_t bin_count(int64_t simulations) { return std::clamp<int64_t>(simulations / 10, 2, 20); }

Tensor bin_counts(const Tensor& place) {
  const auto bins = bin_count(place.size(0));
  const auto bin = (place * static_cast<double>(bins)).floor().clamp(0, static_cast<double>(bins - 1));
  std::vector<Tensor> counts;
  for (int64_t b = 0; b < bins; ++b) counts.push_back(bin.eq(static_cast<double>(b)).sum(0));
  return at::stack(counts);
}

Tensor chi_square_tail(const Tensor& value, int64_t degrees) {
  const auto half = value.to(at::kDouble) / 2;
  return at::special_gammaincc(at::full_like(half, static_cast<double>(degrees) / 2), half);
}

Tensor uniform_p(const Tensor& counts) {
  const auto found = counts.to(at::kDouble);
  const auto expected = found.mean(0);
  return chi_square_tail(((found - expected).square() / expected).sum(0), found.size(0) - 1);
}

int64_t allowed_uneven(const Tensor& place) {
  constexpr int64_t trials = 200;
  const auto N = place.size(0);
  const auto B = correlation_factor(place);
  std::vector<int64_t> uneven;
  for (int64_t trial = 0; trial < trials; ++trial) {
    const auto w = normal({0, 0, trial}, Stream::resample, at::empty({N, B.size(0)}, at::kDouble));
    const auto chance = 0.5 * at::erfc(-w.matmul(B) / std::sqrt(2.0));
    uneven.push_back(uniform_p(bin_counts(chance)).lt(uneven_p).sum().item<int64_t>());
  }
  std::sort(uneven.begin(), uneven.end());
  const auto limit = uneven[static_cast<size_t>((1 - alarm) * static_cast<double>(trials)) - 1];
  return std::max(limit, binomial_limit(place.size(1)));
}

}  // namespace penumbra::diagnostics
