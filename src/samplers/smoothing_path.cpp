#include "samplers/smoothing_path.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/quadrature.h"
#include "samplers/metropolis.h"

namespace penumbra {
namespace {

constexpr double wanted = 0.57;  // of the proposals accepted (Roberts and Rosenthal 1998)

Tensor per_row(const Tensor& a, const Tensor& b) { return flat(a * b).sum({1}, false, at::kDouble).to(at::kCPU); }

}  // namespace

SmoothingPath::SmoothingPath(Posterior posterior, Options options)
    : posterior_(std::move(posterior)),
      options_(options),
      rule_(gauss_legendre(static_cast<int>(options.nodes))),
      L_g_(posterior_.likelihood->typical_curvature().value_or(0)) {}

Tensor SmoothingPath::line_integral(const Tensor& x, const Tensor& v, double s, double t) const {
  auto sum = at::zeros({x.size(0)}, at::kDouble);
  for (const auto& [u, weight] : rule_) {
    const auto at = x + u * v;
    sum += weight * per_row(v, posterior_.prior->score(at, s) - posterior_.prior->score(at, t));
  }
  return sum;
}

Tensor SmoothingPath::log_ratio(const Tensor& x, double from, double to) const {
  const auto& prior = *posterior_.prior;
  if (options_.densities)
    if (const auto there = prior.log_density(x, to))
      return (*there - *prior.log_density(x, from)).to(at::kCPU, at::kDouble);
  // Any reference will do; the middle of the chains has the shortest ways.
  const auto r = x.mean(0, /*keepdim=*/true).expand_as(x);
  return line_integral(r, x - r, to, from);
}

Tensor SmoothingPath::swap_log_ratio(const Tensor& a, double sigma_a, const Tensor& b, double sigma_b) const {
  const auto& prior = *posterior_.prior;
  if (options_.densities)
    if (const auto own = prior.log_density(a, sigma_a))
      return (*prior.log_density(b, sigma_a) - *own + *prior.log_density(a, sigma_b) - *prior.log_density(b, sigma_b))
          .to(at::kCPU, at::kDouble);
  return line_integral(a, b - a, sigma_a, sigma_b);
}

SmoothingPath::Move SmoothingPath::move(const Tensor& x, double sigma, double gamma, const Cursor& at) const {
  if (options_.metropolis)
    if (const auto move = adjusted_move(posterior_, x, sigma, gamma, at, Stream::churn))
      return {move->x, move->taken.to(at::kDouble).mean().item<double>(), norm_per_chain(move->grad_g),
              norm_per_chain(move->score)};
  const auto& [g, S] = posterior_;
  const auto z = normal(at, Stream::langevin, x);
  const auto grad = g->grad(x), score = S->score(x, sigma, at);
  return {x + gamma * (score - grad) + std::sqrt(2 * gamma) * z, 1, norm_per_chain(grad), norm_per_chain(score)};
}

double SmoothingPath::step_at(double sigma) const {
  const double low = options_.sigma_min;
  if (low == 0) return options_.step_size;
  return options_.step_size * (L_g_ + 1 / (low * low)) / (L_g_ + 1 / (sigma * sigma));
}

double SmoothingPath::learnt(double gamma, const Move& move) const {
  return gamma * std::exp(0.1 * (move.accepted - wanted));
}

SmoothingPath::Options path_setting(Settings& settings, const Posterior& posterior) {
  SmoothingPath::Options options;
  options.sigma_0 = settings.number("sigma_0", positive);
  options.sigma_min = settings.number("sigma_min", {0, options.sigma_0});
  if (options.sigma_min >= options.sigma_0)
    settings.fail("sigma_min", fmt::format("expected less than sigma_0 = {:g}", options.sigma_0));
  for (const auto& [key, sigma] : {std::pair{"sigma_0", options.sigma_0}, {"sigma_min", options.sigma_min}})
    if (!posterior.prior->accepts(sigma))
      settings.fail(key, fmt::format("expected a noise level that the prior knows, from {:g} to {:g}, found {:g}",
                                     posterior.prior->sigma_range().low, posterior.prior->sigma_range().high, sigma));
  options.step_size = settings.number("step_size", positive);
  options.nodes = settings.integer("nodes", options.nodes, {1, 64});
  options.metropolis = settings.flag("metropolis", true);
  options.densities = settings.choice("ratios", {"density", "score"}, "density") == "density";
  return options;
}

}  // namespace penumbra
