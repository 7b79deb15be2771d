/// Diffusion posterior sampling (Chung et al. 2023), in variance-exploding form.
///
/// Along noise levels sigma_0 > ... > sigma_N = 0, with x0 = D(x, sigma_k), s = sigma_{k+1} / sigma_k and z normal,
///   x_{k+1} = x0 + s^2 (x - x0) + sigma_{k+1} sqrt(1 - s^2) z - zeta c_k grad_x |y - A(x0(x))| / |A|,
/// an ancestral step and a pull of length zeta c_k on the measurement's error. The authors write it for the
/// variance-preserving x / sqrt(1 + sigma^2) with c_k = 1; in our variable that is
/// c_k = sqrt((1 + sigma_k^2) (1 + sigma_{k+1}^2)), and the same samples. Their pull (`scale` of their code) is not
/// divided by |A|, and so depends on the units of y: theirs is zeta / |A|.
///
/// |y - A(x0)| = beta sqrt(2 g(x0)) and |A| = beta sqrt(L_g), so that any likelihood will do whose curvature is known;
/// of others |A| is taken to be 1, and so is beta where it is not one number.
#include <ATen/ATen.h>

#include "samplers/heun.h"
#include "samplers/sampler.h"

namespace penumbra {
namespace {

class Dps final : public Sampler {
 public:
  struct Options {
    std::vector<double> sigmas;  ///< those of rho_grid, 0 at the end
    double zeta = 1;
  };
  Dps(Posterior posterior, uint64_t seed, Options options)
      : posterior_(std::move(posterior)),
        seed_(seed),
        options_(std::move(options)),
        unit_(unit_of(*posterior_.likelihood)) {}

  StepInfo step(ChainState& state) const override {
    const auto& [g, S] = posterior_;
    const auto& x = state.x;
    const Cursor at{seed_, state.first_chain, state.k};
    const double sigma = level(state.k), next = level(state.k + 1), s2 = next * next / (sigma * sigma);

    const auto z = normal(at, Stream::langevin, x);
    const auto [x0, vjp] = S->denoise_vjp(x, sigma, at);
    const auto score_norm = norm_per_chain(x - x0) / (sigma * sigma);
    const auto grad_g = g->grad(x0);
    auto moved = x0 + s2 * (x - x0) + next * std::sqrt(1 - s2) * z;
    if (g->has_data()) {
      const auto error = (2 * g->value(x0)).sqrt().clamp_min(1e-30);  // |y - A(x0)| / beta
      const double c = std::sqrt((1 + sigma * sigma) * (1 + next * next));
      moved = moved - options_.zeta * c * unit_ * vjp(grad_g / per_chain(error, grad_g));
    }
    state.x = moved;
    ++state.k;

    return {sigma, 1, options_.zeta, norm_per_chain(grad_g), score_norm};
  }
  Annealing annealing(int64_t k) const override { return {level(k), 1}; }
  double step_size() const override { return options_.zeta; }
  bool keeps_layers() const override { return true; }
  std::optional<double> start_sd() const override { return options_.sigmas.front(); }

 private:
  static double unit_of(const Likelihood& g) {
    const auto L_g = g.lipschitz();
    return L_g && *L_g > 0 ? 1 / std::sqrt(*L_g) : g.noise_sd().value_or(1);
  }

  double level(int64_t k) const {
    return options_.sigmas[static_cast<size_t>(std::min<int64_t>(k, static_cast<int64_t>(options_.sigmas.size()) - 1))];
  }

  Posterior posterior_;
  uint64_t seed_;
  Options options_;
  double unit_;  ///< beta / |A|
};

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  const double sigma_max = settings.number("sigma_max", positive);
  const double sigma_min = settings.number("sigma_min", {0, sigma_max, true});
  const double rho = settings.number("rho", 7, positive);
  if (context.steps > 1 && sigma_min >= sigma_max)
    settings.fail("sigma_min", fmt::format("expected less than sigma_max = {:g}", sigma_max));
  Dps::Options options{rho_grid(context.steps, sigma_max, sigma_min, rho), settings.number("zeta", 1, not_negative)};
  return std::make_unique<Dps>(context.posterior, context.seed, std::move(options));
}

}  // namespace

extern const SamplerEntry dps{.name = "dps",
                              .summary = "diffusion posterior sampling: ancestral steps pulled towards the data",
                              .make = make,
                              .annealed = true,
                              .langevin = false};

}  // namespace penumbra
