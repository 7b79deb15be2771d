/// The classical reference: argmin_x g(x) + lambda TV(x), x in a box, by accelerated proximal gradient steps.
///
/// TV(x) = sum over pixels of the length of all forward differences there, over directions and channels together (for
/// the two channels of a complex image that is the TV of the complex image). One step is a whole cycle of `inner_steps`
/// FISTA iterations that starts anew from x: a restart costs little, and x alone is the state. Each iteration's
/// proximal map is `dual_steps` accelerated steps on its dual (Beck and Teboulle 2009), which go on from the last ones.
/// A cycle that does not lower the objective of a chain leaves that chain as it was. A step that is too long would so
/// pass for convergence, and is refused: with momentum near one the iteration is stable up to gamma = 4 / (3 L_g).
#include <ATen/ATen.h>

#include "core/error.h"
#include "samplers/differences.h"
#include "samplers/sampler.h"

namespace penumbra {
namespace {

/// The length of a field at each pixel, [1, N, 1, H, W].
Tensor lengths(const Tensor& p) { return p.square().sum(at::IntArrayRef({0, 2}), true).sqrt(); }

/// Nesterov's sequence: t and the weight of the momentum.
struct Momentum {
  double t = 1;
  double weight() {
    const double next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    return (std::exchange(t, next) - 1) / next;
  }
};

class TotalVariation final : public Sampler {
 public:
  struct Options {
    double gamma, lambda, low, high;
    int64_t inner_steps, dual_steps;
  };
  TotalVariation(Posterior posterior, Options options) : posterior_(std::move(posterior)), options_(options) {}

  StepInfo step(ChainState& state) const override {
    const auto& g = *posterior_.likelihood;
    const auto start = state.x.clamp(options_.low, options_.high);
    auto x = start, ahead = start;
    auto p = at::zeros_like(differences(x));
    Momentum momentum;
    for (int64_t i = 0; i < options_.inner_steps; ++i) {
      const auto next = proximal(ahead - options_.gamma * g.grad(ahead), p);
      ahead = next + momentum.weight() * (next - x);
      x = next;
    }
    const auto before = objective(start), after = objective(x), lower = after <= before;
    // What diverges grows at every iteration, or is NaN by now; inexact proximal maps near the minimum do neither.
    if (state.k == 0 && !after.le(2 * before).all().item<bool>())
      input_error(
          "sampler.step_size: {:g} is too long: the first cycle of tv raised what it is to lower; expected less",
          options_.gamma);
    state.x = at::where(per_chain(lower, x), x, start);
    ++state.k;
    return {0, 1, options_.gamma, norm_per_chain(g.grad(state.x)), at::zeros_like(g.value(state.x))};
  }
  Annealing annealing(int64_t) const override { return {0, 1}; }
  double step_size() const override { return options_.gamma; }

 private:
  Tensor objective(const Tensor& x) const {
    return posterior_.likelihood->value(x) + options_.lambda * lengths(differences(x)).flatten(2).sum(2)[0];
  }

  /// argmin_u |u - v|^2 / 2 + tau TV(u), u in the box, from the dual field p on, which is left at the last one.
  Tensor proximal(const Tensor& v, Tensor& p) const {
    const double tau = options_.gamma * options_.lambda;
    const auto primal = [&](const Tensor& q) {
      return (v - tau * adjoint_differences(q)).clamp(options_.low, options_.high);
    };
    auto ahead = p;
    Momentum momentum;
    for (int64_t i = 0; i < options_.dual_steps; ++i) {
      const auto moved = ahead + differences(primal(ahead)) / (8 * tau);  // |differences|^2 <= 8
      const auto next = moved / lengths(moved).clamp_min(1);
      ahead = next + momentum.weight() * (next - p);
      p = next;
    }
    return primal(p);
  }

  Posterior posterior_;
  Options options_;
};

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  TotalVariation::Options options{};
  options.gamma = settings.number("step_size", positive);
  const auto L_g = context.posterior.likelihood->lipschitz();
  if (L_g && options.gamma * *L_g > 4.0 / 3)
    settings.fail("step_size", fmt::format("expected at most 1 / L_g = {:.3g} (tv fails above 4/3 of it), found {:g}",
                                           1 / *L_g, options.gamma));
  options.lambda = settings.number("lambda", positive);
  options.low = settings.number("box_low", -infinity);
  options.high = settings.number("box_high", infinity);
  if (!(options.low < options.high)) settings.fail("box_high", "expected more than box_low");
  options.inner_steps = settings.integer("inner_steps", 50, {1, 1e9});
  options.dual_steps = settings.integer("dual_steps", 10, {1, 1e9});
  return std::make_unique<TotalVariation>(context.posterior, options);
}

}  // namespace

extern const SamplerEntry total_variation{.name = "tv",
                                          .summary = "total variation by proximal gradient steps, deterministic",
                                          .make = make,
                                          .random = false,
                                          .langevin = false};

}  // namespace penumbra
