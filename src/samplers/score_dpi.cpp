/// scoreDPI, the paper's baseline for interferometry: variational inference with a normalising flow (Sun and Bouman
/// 2021) and a score prior (Feng et al. 2023, 2024). No chain: a step of it is a step of Adam on
///   E_q[log q(x) + g(x) + b(x)],   x = m + scale f(z),  z ~ N(0, I),
/// with f a RealNVP and b the score's bound on -log p. The divergence of q from the posterior is this but for a
/// constant. "Chain" c follows the image of its own z through the training; after the last step these are draws of q.
///
/// The state's `shared` holds the parameters of f, Adam's two moments of each, and m, the prior's mean.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "networks/realnvp.h"
#include "samplers/sampler.h"
#include "samplers/score_bound.h"
#include "training/adam.h"

namespace penumbra {
namespace {

class ScoreDpi final : public Sampler {
 public:
  struct Options {
    int64_t batch = 16;
    double scale = 1;
    int64_t steps = 0;
    training::AdamOptions adam;
  };
  ScoreDpi(Posterior posterior, uint64_t seed, const RealNvpOptions& flow, ScoreBound::Options bound, Options options)
      : posterior_(std::move(posterior)),
        seed_(seed),
        n_(flow.dimension),
        flow_(flow),
        bound_(posterior_.prior, bound),
        options_(options) {}

  StepInfo step(ChainState& state) const override {
    auto fit = state.shared.defined() ? unpack(state.shared.clone()) : begin(state.x);
    const auto info = improve(fit, {seed_, 0, state.k}, state.x.size(0));
    state.x = draw(fit, state);
    state.shared = at::cat({fit.values, fit.mean_gradient, fit.mean_square, fit.prior_mean});
    ++state.k;
    return info;
  }
  Annealing annealing(int64_t) const override { return {bound_.options().sigma_min, 1}; }
  double step_size() const override { return options_.adam.learning_rate; }
  int64_t shared_count(int64_t /*chains*/) const override { return 3 * flow_.parameter_count() + n_; }

 private:
  struct Fit {
    Tensor values, mean_gradient, mean_square;  ///< [parameters]
    Tensor prior_mean;                          ///< m, [n]
  };

  Fit begin(const Tensor& like) const {
    const Placement placement{like.scalar_type(), like.device()};
    const auto values = flow_.initial_values(placement);
    return {values, at::zeros_like(values), at::zeros_like(values), bound_.prior_mean(placement).flatten()};
  }

  Fit unpack(const Tensor& shared) const {
    const auto p = flow_.parameter_count();
    const auto parts = shared.split_with_sizes({p, p, p, n_});
    return {parts[0], parts[1], parts[2], parts[3]};
  }

  Tensor image(const Fit& fit, const Tensor& u) const {
    Shape shape = posterior_.image_shape();
    shape.insert(shape.begin(), u.size(0));
    return (fit.prior_mean + options_.scale * u).view(shape);
  }

  /// The same z for a chain at every step, so that its trace shows the flow's course and no noise.
  Tensor draw(const Fit& fit, const ChainState& state) const {
    const auto z = normal({seed_, state.first_chain, 0}, Stream::start, flat(state.x));
    return image(fit, flow_.forward(fit.values, z).x);
  }

  /// One step of Adam. The likelihood and the prior hand in their gradients at x; only the flow is differentiated here.
  StepInfo improve(Fit& fit, const Cursor& at, int64_t chains) const {
    const auto& g = *posterior_.likelihood;
    c10::AutoGradMode gradients(true);
    const auto values = fit.values.detach().clone().requires_grad_();
    const auto z = normal(at, Stream::langevin, fit.values.new_empty({options_.batch, n_}));
    const auto [u, log_det] = flow_.forward(values, z);
    const auto x = image(fit, u.detach());
    const auto [b, grad_b] = bound_(x, fit.prior_mean.view_as(x[0]), at);
    const auto grad_g = g.grad(x).detach();
    const auto pull = options_.scale * flat(grad_g + grad_b.detach());
    const auto slope = ((u * pull).sum(1) - log_det).mean();
    auto gradient = torch::autograd::grad({slope}, {values})[0];

    c10::NoGradGuard no_gradients;
    training::Adam adam(options_.adam, fit.values);
    adam.restore({{"adam_mean", fit.mean_gradient}, {"adam_square", fit.mean_square}});
    adam.step(fit.values, gradient, at.k, options_.steps);
    const auto moments = adam.state();
    fit.mean_gradient = moments.at("adam_mean");
    fit.mean_square = moments.at("adam_square");

    const auto n = static_cast<double>(n_);
    // E log N(z) is known; what the flow and the scale make of it is not.
    const double log_base = -n / 2 * std::log(2 * M_PI * M_E) - n * std::log(options_.scale);
    const double objective = log_base + (g.value(x) + b - log_det).mean().item<double>();
    const auto of_all = [&](const Tensor& grad) { return norm_per_chain(grad).mean().expand({chains}); };
    return {.sigma = bound_.options().sigma_min,
            .alpha = 1,
            .step_size = options_.adam.rate(at.k, options_.steps),
            .grad_norm = of_all(grad_g),
            .score_norm = of_all(grad_b.detach()),
            .objective = objective};
  }

  Posterior posterior_;
  uint64_t seed_;
  int64_t n_;
  RealNvp flow_;
  ScoreBound bound_;
  Options options_;
};

/// Training's own, but for a faster rate; gradients are as long as g is steep, so that they are only cut where they
/// are absurd.
training::AdamOptions optimiser_setting(Settings& settings) {
  settings.set_default("optimiser.learning_rate", "3e-3");
  settings.set_default("optimiser.warm_up", "100");
  settings.set_default("optimiser.clip", "1e6");
  return training::adam_setting(settings.section("optimiser"));
}

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  ScoreBound::Options bound;
  bound.sigma_max = settings.number("sigma_max", positive);
  bound.sigma_min = settings.number("sigma_min", {0, bound.sigma_max, true});
  if (bound.sigma_min >= bound.sigma_max)
    settings.fail("sigma_min", fmt::format("expected less than sigma_max = {:g}", bound.sigma_max));
  const auto& prior = *context.posterior.prior;
  for (const auto& [key, sigma] : {std::pair{"sigma_max", bound.sigma_max}, {"sigma_min", bound.sigma_min}})
    if (!prior.accepts(sigma))
      settings.fail(key, fmt::format("expected a noise level that the prior knows, from {:g} to {:g}, found {:g}",
                                     prior.sigma_range().low, prior.sigma_range().high, sigma));
  ScoreDpi::Options options;
  options.steps = context.steps;
  options.scale = settings.number("scale", positive);
  options.batch = settings.integer("batch", options.batch, {1, 1e6});
  bound.levels =
      settings.integer("levels", std::min(bound.levels, options.batch), {1, static_cast<double>(options.batch)});
  RealNvpOptions flow{.dimension = element_count(context.posterior.image_shape()), .seed = context.seed};
  if (flow.dimension < 2) settings.fail("kind", "score-dpi: expected images of at least two pixels, found one");
  auto section = settings.section("flow");
  flow.layers = section.integer("layers", flow.layers, {1, 1000});
  flow.width = section.integer("width", flow.width, {1, 1e5});
  flow.bound = section.number("bound", flow.bound, positive);
  options.adam = optimiser_setting(settings);
  return std::make_unique<ScoreDpi>(context.posterior, context.seed, flow, bound, options);
}

}  // namespace

extern const SamplerEntry score_dpi{.name = "score-dpi",
                                    .summary = "variational inference: a normalising flow fitted to the posterior",
                                    .make = make,
                                    .langevin = false};

}  // namespace penumbra
