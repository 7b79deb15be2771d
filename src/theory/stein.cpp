#include "theory/stein.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "core/random.h"

namespace penumbra::theory {
namespace {

Tensor squared_distances(const Tensor& x) {
  const auto centred = x - x.mean(0);  // less cancellation in |x|^2 + |y|^2 - 2 x.y
  const auto norms = centred.square().sum(1);
  auto r2 = (norms.unsqueeze(1) + norms - 2 * centred.mm(centred.t())).clamp_min(0);
  r2.fill_diagonal_(0);
  return r2;
}

double median_distance(const Tensor& r2) {
  const auto N = r2.size(0);
  const auto pairs = at::triu_indices(N, N, 1);
  return std::sqrt(r2.index({pairs[0], pairs[1]}).median().item<double>());
}

/// h(x, y) = s_x.s_y k + s_x.grad_y k + s_y.grad_x k + div_x grad_y k, with q = c^2 + |x - y|^2:
///         = s_x.s_y q^-1/2 + [(s_x - s_y).(x - y) + n] q^-3/2 - 3 |x - y|^2 q^-5/2.
Tensor stein_kernel(const Tensor& x, const Tensor& s, const Tensor& r2, double c) {
  const auto q = r2 + c * c;
  const auto sx = (s * x).sum(1), cross = s.mm(x.t());
  const auto moment = sx.unsqueeze(1) + sx - cross - cross.t();
  const auto root = q.rsqrt();
  return root * (s.mm(s.t()) + (moment + x.size(1) - 3 * r2 / q) / q);
}

/// Rademacher weights, one row a resample.
Tensor signs(int64_t rows, int64_t columns, uint64_t seed, const Tensor& like) {
  const auto u = uniform({seed, 0, 0}, Stream::resample, at::empty({rows, columns}, like.options()));
  return (u < 0.5).to(at::kDouble) * 2 - 1;
}

}  // namespace

Stein kernel_stein(const Tensor& samples, const Tensor& scores, const SteinOptions& options) {
  if (samples.dim() != 2 || samples.size(0) < 2 || scores.sizes() != samples.sizes())
    input_error("kernel_stein: expected samples and scores of the same [N, n] with N >= 2, found {} and {}",
                describe(samples.sizes()), describe(scores.sizes()));
  const auto x = samples.detach().to(at::kDouble), s = scores.detach().to(at::kDouble);
  const auto N = x.size(0);
  const auto count = static_cast<double>(N), pairs = count * (count - 1);
  const auto r2 = squared_distances(x);

  Stein result;
  result.length = options.length > 0 ? options.length : median_distance(r2);
  if (!(result.length > 0)) input_error("kernel_stein: the samples are all the same");
  auto h = stein_kernel(x, s, r2, result.length);
  result.v_statistic = h.sum().item<double>() / (count * count);
  h.fill_diagonal_(0);
  result.u_statistic = h.sum().item<double>() / pairs;

  if (options.bootstrap > 0) {
    const auto W = signs(options.bootstrap, N, options.seed, x);
    const auto resampled = std::get<0>((W.mm(h) * W).sum(1).div(pairs).sort());
    const auto rank = static_cast<int64_t>(std::ceil((1 - options.level) * static_cast<double>(options.bootstrap)));
    result.threshold = resampled[std::clamp<int64_t>(rank - 1, 0, options.bootstrap - 1)].item<double>();
    const auto above = resampled.ge(result.u_statistic).sum().item<int64_t>();
    result.p_value = static_cast<double>(1 + above) / static_cast<double>(1 + options.bootstrap);
  }
  return result;
}

}  // namespace penumbra::theory
