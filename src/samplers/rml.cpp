/// Regularised maximum likelihood, as radio astronomers image closures without a learned prior:
///   argmin_x  g(x) + entropy S(x) + tv V(x),   x > 0,
///   S(x) = sum x log(x / m) - x + m   against a Gaussian prior image m (maximum entropy),
///   V(x) = sum over pixels of sqrt(|forward differences|^2 + smoothing^2)   (total variation).
///
/// g need be neither convex nor of bounded curvature: the iteration is Adam on log x, whose steps have a length of
/// their own. A step of the sampler is a cycle of `inner_steps` of them with a rate that falls to zero; it starts anew
/// from x blurred, so that x alone is the state, and what a poor optimum has put into single pixels is given up (the
/// field's "blur and restart"). A cycle that does not lower the objective of a chain leaves that chain as it was. The
/// first cycle begins at m, whatever x_0 is: noise is a poor start for closures.
#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "core/blur.h"
#include "samplers/differences.h"
#include "samplers/sampler.h"

namespace penumbra {
namespace {

/// No pixel is darker, in units of the prior image's mean: the logarithm needs something.
constexpr double darkest = 1e-6;

/// exp(-t^2 / (2 sd^2)) at the pixels of one side, from the middle of it.
Tensor bell(int64_t count, double sd, const at::TensorOptions& options) {
  const auto t = at::arange(count, options) - 0.5 * static_cast<double>(count - 1);
  return (-0.5 * (t / sd).square()).exp();
}

class RegularisedLikelihood final : public Sampler {
 public:
  struct Options {
    double entropy = 0, tv = 0;
    double prior_mean, prior_width, smoothing, black, rate, blur;
    int64_t inner_steps;
  };
  RegularisedLikelihood(Posterior posterior, Options options) : posterior_(std::move(posterior)), options_(options) {}

  StepInfo step(ChainState& state) const override {
    const auto& g = *posterior_.likelihood;
    const auto m = prior_image(state.x);
    const auto start = state.k == 0 ? m.expand_as(state.x).contiguous() : state.x - options_.black;
    const auto found = improved(state.k == 0 ? start : gaussian_blur(start, options_.blur), m);
    const auto before = objective(start, m), after = objective(found, m), lower = after < before;
    state.x = at::where(per_chain(lower, start), found, start) + options_.black;
    ++state.k;
    return {.sigma = 0,
            .alpha = 1,
            .step_size = options_.rate,
            .grad_norm = norm_per_chain(g.grad(state.x)),
            .score_norm = at::zeros_like(after),
            .objective = at::where(lower, after, before).mean().item<double>()};
  }
  Annealing annealing(int64_t) const override { return {0, 1}; }
  double step_size() const override { return options_.rate; }

 private:
  /// A Gaussian in the middle, [1, 1, H, W].
  Tensor prior_image(const Tensor& like) const {
    const double sd = options_.prior_width * static_cast<double>(like.size(3)) / std::sqrt(8 * std::numbers::ln2);
    const auto shape =
        at::outer(bell(like.size(2), sd, like.options()), bell(like.size(3), sd, like.options())).clamp_min(1e-4);
    return (options_.prior_mean / shape.mean() * shape).view({1, 1, like.size(2), like.size(3)});
  }

  /// Per pixel, [2, N, C, H, W] to [1, N, 1, H, W].
  Tensor lengths(const Tensor& d) const {
    const double eps = options_.smoothing * options_.prior_mean;
    return (d.square().sum(at::IntArrayRef({0, 2}), true) + eps * eps).sqrt();
  }

  Tensor objective(const Tensor& x, const Tensor& m) const {
    auto value = posterior_.likelihood->value(x + options_.black);
    if (options_.entropy > 0) value = value + options_.entropy * flat(x * (x / m).log() - x + m).sum(1);
    if (options_.tv > 0) value = value + options_.tv * lengths(differences(x)).flatten(2).sum(2)[0];
    return value;
  }

  Tensor gradient(const Tensor& x, const Tensor& m) const {
    auto grad = posterior_.likelihood->grad(x + options_.black);
    if (options_.entropy > 0) grad = grad + options_.entropy * (x / m).log();
    if (options_.tv > 0) {
      const auto d = differences(x);
      grad = grad + options_.tv * adjoint_differences(d / lengths(d));
    }
    return grad;
  }

  /// Adam on log x; every pixel has its own moments, so that chains do not see one another.
  Tensor improved(const Tensor& start, const Tensor& m) const {
    constexpr double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-10;
    const double floor = darkest * options_.prior_mean;
    auto theta = start.clamp_min(floor).log();
    auto mean = at::zeros_like(theta), square = at::zeros_like(theta);
    for (int64_t i = 0; i < options_.inner_steps; ++i) {
      const auto x = theta.exp();
      const auto slope = x * gradient(x, m);
      mean = beta1 * mean + (1 - beta1) * slope;
      square = beta2 * square + (1 - beta2) * slope.square();
      const auto n = static_cast<double>(i + 1);
      const double share = static_cast<double>(i) / static_cast<double>(options_.inner_steps);
      const double rate = options_.rate * 0.5 * (1 + std::cos(std::numbers::pi * share));
      const auto scale = (square / (1 - std::pow(beta2, n))).sqrt() + epsilon;
      theta = (theta - rate / (1 - std::pow(beta1, n)) * mean / scale).clamp_min(std::log(floor));
    }
    return theta.exp();
  }

  Posterior posterior_;
  Options options_;
};

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  RegularisedLikelihood::Options options{};
  options.entropy = settings.number("entropy", 0, not_negative);
  options.tv = settings.number("tv", 0, not_negative);
  if (options.entropy + options.tv == 0)
    settings.fail("entropy", "expected a weight > 0 here or in tv: without one the data alone do not make an image");
  options.prior_mean = settings.number("prior_mean", 0.05, positive);
  options.prior_width = settings.number("prior_width", 0.2, positive);
  options.smoothing = settings.number("smoothing", 0.02, positive);
  options.black = settings.number("black", 0);
  options.rate = settings.number("rate", 0.1, positive);
  options.blur = settings.number("blur", 2, not_negative);
  options.inner_steps = settings.integer("inner_steps", 300, {1, 1e9});
  return std::make_unique<RegularisedLikelihood>(context.posterior, options);
}

}  // namespace

extern const SamplerEntry rml{.name = "rml",
                              .summary = "maximum entropy and total variation for any likelihood, deterministic",
                              .make = make,
                              .random = false,
                              .langevin = false};

}  // namespace penumbra
