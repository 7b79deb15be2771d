#include "diagnostics/tsne.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"

namespace penumbra::diagnostics {
namespace {

constexpr double smallest_share = 1e-300;  // in place of 0 in a logarithm
constexpr int64_t exaggerated_steps = 250;
constexpr double exaggeration = 12, start_sd = 1e-4, least_rate = 50;

Tensor squared_distances(const Tensor& x) {
  const auto norms = x.square().sum(1);
  return (norms.unsqueeze(1) + norms.unsqueeze(0) - 2 * x.matmul(x.t())).clamp_min(0).fill_diagonal_(0);
}

/// Fills a row of p_j|i at precision b and returns its entropy.
double fill_row(const double* distance, int64_t own, double b, std::vector<double>& row) {
  double nearest = std::numeric_limits<double>::infinity(), sum = 0, mean = 0;
  const auto count = static_cast<int64_t>(row.size());
  for (int64_t j = 0; j < count; ++j)
    if (j != own) nearest = std::min(nearest, distance[j]);
  for (int64_t j = 0; j < count; ++j) {
    // From the nearest on, so that not all of them underflow.
    row[j] = j == own ? 0 : std::exp(-b * (distance[j] - nearest));
    sum += row[j];
    mean += row[j] * (distance[j] - nearest);
  }
  for (auto& p : row) p /= sum;
  return std::log(sum) + b * mean / sum;
}

/// 1 / (1 + |y_i - y_j|^2), 0 on the diagonal.
Tensor kernel(const Tensor& y) { return (1 / (1 + squared_distances(y))).fill_diagonal_(0); }

}  // namespace

Tensor neighbour_probabilities(const Tensor& distances, double perplexity) {
  const auto D = distances.to(at::kCPU, at::kDouble).contiguous();
  const auto count = D.size(0);
  const double wanted = std::log(perplexity);
  auto P = at::empty({count, count}, at::kDouble);
  std::vector<double> row(count);
  for (int64_t i = 0; i < count; ++i) {
    const auto* distance = D.data_ptr<double>() + i * count;
    // The entropy falls as b grows: doubled or halved until it is between two, then bisected.
    double low = 0, high = std::numeric_limits<double>::infinity(), b = 1;
    for (int step = 0; step < 300; ++step) {
      const double excess = fill_row(distance, i, b, row) - wanted;
      if (std::abs(excess) < 1e-10) break;
      (excess > 0 ? low : high) = b;
      b = std::isinf(high) ? 2 * b : (low == 0 ? b / 2 : (low + high) / 2);
    }
    std::copy(row.begin(), row.end(), P.data_ptr<double>() + i * count);
  }
  return P;
}

double map_cost(const Tensor& P, const Tensor& y) {
  const auto K = kernel(y);
  const auto Q = K / K.sum();
  return (P * (P.clamp_min(smallest_share) / Q.clamp_min(smallest_share)).log()).sum().item<double>();
}

Tensor map_gradient(const Tensor& P, const Tensor& y) {
  const auto K = kernel(y);
  const auto pull = (P - K / K.sum()) * K;
  return 4 * (pull.sum(1, true) * y - pull.matmul(y));
}

Tensor tsne(const Tensor& images, const TsneOptions& options) {
  const auto count = images.size(0);
  if (count < 4 || count > most_on_map) input_error("t-SNE: expected 4 to {} images, found {}", most_on_map, count);
  if (!(options.perplexity > 1)) input_error("t-SNE: expected a perplexity > 1, found {:g}", options.perplexity);
  auto x = images.detach().to(at::kCPU, at::kDouble).flatten(1);
  x = x - x.mean(0, true);
  const auto N = static_cast<double>(count);
  const auto D = squared_distances(x);
  const auto mean = D.mean().item<double>();
  const auto conditional =
      neighbour_probabilities(mean > 0 ? D / mean : D, std::max(1.5, std::min(options.perplexity, (N - 1) / 3)));
  const auto P = (conditional + conditional.t()) / (2 * N);
  const double rate = std::max(N / exaggeration / 4, least_rate);

  auto y = start_sd * normal({options.seed, 0, 0}, Stream::start, at::empty({count, 2}, at::kDouble));
  auto velocity = at::zeros_like(y), gain = at::ones_like(y);
  for (int64_t k = 0; k < options.steps; ++k) {
    const bool early = k < exaggerated_steps;
    const auto grad = map_gradient(early ? exaggeration * P : P, y);
    // Jacobs' gains: a coordinate that goes on in its direction goes faster, one that turns around slower.
    const auto onwards = (grad * velocity) < 0;
    gain = at::where(onwards, gain + 0.2, gain * 0.8).clamp_min(0.01);
    velocity = (early ? 0.5 : 0.8) * velocity - rate * gain * grad;
    y = y + velocity;
    y = y - y.mean(0, true);
  }
  return y;
}

}  // namespace penumbra::diagnostics
