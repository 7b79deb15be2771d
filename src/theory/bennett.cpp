#include "theory/bennett.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace penumbra::theory {
namespace {

using Works = std::vector<double>;

double fermi(double x) { return 1 / (1 + std::exp(x)); }

/// The terms of Bennett's equation, sum_1 fermi(M + u - w_F) = sum_2 fermi(-M - u - w_R).
double forward_term(double shift, double work) { return fermi(shift - work); }
double backward_term(double shift, double work) { return fermi(-shift - work); }

double log_counts(const Works& forward, const Works& backward) {
  return std::log(static_cast<double>(forward.size()) / static_cast<double>(backward.size()));
}

/// The left side falls with u and the right side rises, so halving finds the one u.
double solve(const Works& forward, const Works& backward) {
  const double M = log_counts(forward, backward);
  double low = forward[0], high = forward[0];
  for (const double w : forward) low = std::min(low, w), high = std::max(high, w);
  for (const double w : backward) low = std::min(low, -w), high = std::max(high, -w);
  low -= M + std::abs(M) + 40, high += std::abs(M) - M + 40;  // there one side is nothing
  for (int round = 0; round < 200 && high - low > 1e-12 * (1 + std::abs(low)); ++round) {
    const double u = (low + high) / 2;
    double difference = 0;
    for (const double w : forward) difference += forward_term(M + u, w);
    for (const double w : backward) difference -= backward_term(M + u, w);
    (difference > 0 ? low : high) = u;
  }
  return (low + high) / 2;
}

struct Terms {
  double relative_variance = 0;  ///< of their mean
  double effective = 0;
};

template <class Term>
Terms terms(const Works& works, Term term) {
  double sum = 0, squares = 0;
  for (const double w : works) sum += term(w), squares += term(w) * term(w);
  const auto n = static_cast<double>(works.size());
  const double effective = sum * sum / squares;
  return {(n / effective - 1) / n, effective};
}

Works numbers(const Tensor& x) {
  const auto plain = x.contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

/// Drawn with replacement: [resamples, n] of numbers of works.
Tensor choices(const BennettOptions& options, int64_t side, int64_t n) {
  const auto u = uniform({options.seed, 0, side}, Stream::resample, at::empty({options.resamples, n}, at::kDouble));
  return (u * static_cast<double>(n)).floor().to(at::kLong).clamp(0, n - 1);
}

double bootstrap(const Tensor& forward, const Tensor& backward, const BennettOptions& options) {
  const auto first = choices(options, 0, forward.size(0)), second = choices(options, 1, backward.size(0));
  auto u = at::empty({options.resamples}, at::kDouble);
  for (int64_t b = 0; b < options.resamples; ++b)
    u[b] = solve(numbers(forward.index_select(0, first[b])), numbers(backward.index_select(0, second[b])));
  return u.std(/*unbiased=*/true).item<double>();
}

}  // namespace

Bennett bennett(const Tensor& forward, const Tensor& backward, const BennettOptions& options) {
  const auto first = numbers(forward), second = numbers(backward);
  Bennett result;
  result.log_ratio = solve(first, second);
  const double shift = log_counts(first, second) + result.log_ratio;
  const auto one = terms(first, [&](double w) { return forward_term(shift, w); });
  const auto two = terms(second, [&](double w) { return backward_term(shift, w); });
  result.asymptotic_error = std::sqrt(std::max(0.0, one.relative_variance + two.relative_variance));
  result.effective = std::min(one.effective, two.effective);
  result.bootstrap_error = bootstrap(forward, backward, options);
  result.gap = -(forward.mean() + backward.mean()).item<double>();
  result.forward_sd = forward.std(/*unbiased=*/true).item<double>(),
  result.backward_sd = backward.std(/*unbiased=*/true).item<double>();
  result.gap_error = std::sqrt(result.forward_sd * result.forward_sd / static_cast<double>(first.size()) +
                               result.backward_sd * result.backward_sd / static_cast<double>(second.size()));
  return result;
}

}  // namespace penumbra::theory
