/// Sequential Monte Carlo along the prior's smoothing (Del Moral, Doucet and Jasra 2006): the chains are particles that
/// go from pi_{sigma_0} to pi_{sigma_min}, pi_sigma ~ l p_sigma, by Langevin moves at every level. From level to level
/// their weights grow by p_t(x)/p_s(x); where fewer than half of the particles count they are resampled, so that modes
/// keep their weights where no chain can cross. Levels follow a geometric schedule that ends after 90 % of the steps,
/// and stay behind it where one would leave less than half of the effective particles; at its end all go to sigma_min
/// and are resampled. From then on they are unweighted draws.
///
/// The state's `shared` holds sigma, the step size and the particles' log weights.
#include <ATen/ATen.h>

#include <cmath>

#include "samplers/resampling.h"
#include "samplers/sampler.h"
#include "samplers/smoothing_path.h"

namespace penumbra {
namespace {

constexpr double annealing_share = 0.9;
constexpr double least_share = 0.5;    // of the particles that count
constexpr double lowest_share = 1e-3;  // of sigma_0: where the schedule ends if sigma_min is 0
constexpr int halvings = 12;

class Smc final : public Sampler {
 public:
  Smc(Posterior posterior, uint64_t seed, const SmoothingPath::Options& path, int64_t moves, int64_t steps)
      : path_(std::move(posterior), path),
        seed_(seed),
        moves_(moves),
        annealing_steps_(std::max<int64_t>(1, static_cast<int64_t>(annealing_share * static_cast<double>(steps)))) {}

  StepInfo step(ChainState& state) const override {
    auto particles = unpack(state);
    auto& [sigma, gamma, log_weight] = particles;
    const bool last = state.k >= annealing_steps_;
    if (sigma > path_.options().sigma_min && (last || state.k % moves_ == 0)) descend(state, particles, last);
    const auto moved = path_.move(state.x, sigma, gamma, {seed_, state.first_chain, state.k});
    const StepInfo info{sigma, 1, gamma, moved.grad_norm, moved.score_norm};
    state.x = moved.x;
    // Not among the draws, for which it must be known beforehand.
    if (!last && path_.options().metropolis && moved.accepted < 1) gamma = path_.learnt(gamma, moved);
    state.shared = at::cat({at::tensor({sigma, gamma}, at::kDouble), log_weight}).to(state.x.device());
    ++state.k;
    return info;
  }

  /// The schedule; levels may be behind it until it ends.
  Annealing annealing(int64_t k) const override { return {scheduled(k), 1}; }
  double step_size() const override { return path_.options().step_size; }
  std::optional<double> start_sd() const override { return path_.options().sigma_0; }
  bool is_the_papers() const override { return false; }
  bool couples_chains() const override { return true; }
  int64_t shared_count(int64_t chains) const override { return 2 + chains; }

 private:
  struct Particles {
    double sigma, gamma;
    Tensor log_weight;  ///< [N], float64 on the CPU
  };

  Particles unpack(const ChainState& state) const {
    const double first = path_.options().sigma_0;
    if (!state.shared.defined()) return {first, path_.step_at(first), at::zeros({state.x.size(0)}, at::kDouble)};
    const auto shared = state.shared.to(at::kCPU);
    return {shared[0].item<double>(), shared[1].item<double>(), shared.slice(0, 2)};
  }

  double scheduled(int64_t k) const {
    const double first = path_.options().sigma_0, last = path_.options().sigma_min;
    if (k >= annealing_steps_) return last;
    const double low = std::max(last, lowest_share * first);
    return first * std::pow(low / first, static_cast<double>(k) / static_cast<double>(annealing_steps_));
  }

  /// To the next level, with new weights. A plain step changes as the curvature does.
  void descend(ChainState& state, Particles& particles, bool last) const {
    auto& [sigma, gamma, log_weight] = particles;
    const double next = last ? path_.options().sigma_min : next_level(state.x, particles, scheduled(state.k));
    log_weight = log_weight + path_.log_ratio(state.x, sigma, next);
    gamma *= path_.step_at(next) / path_.step_at(sigma);
    sigma = next;
    if (!last && effective_count(log_weight) >= least_share * static_cast<double>(state.x.size(0))) return;
    const auto chosen = systematic_resampling(log_weight, {seed_, 0, state.k});
    state.x = state.x.index_select(0, chosen.to(state.x.device()));
    log_weight = at::zeros_like(log_weight);
  }

  /// Halvings of sigma^2 between the schedule's level and this one.
  double next_level(const Tensor& x, const Particles& particles, double wanted) const {
    const auto& [sigma, gamma, log_weight] = particles;
    const double least = least_share * effective_count(log_weight);
    const auto counts = [&](double level) {
      return effective_count(log_weight + path_.log_ratio(x, sigma, level)) >= least;
    };
    if (wanted >= sigma || counts(wanted)) return std::min(wanted, sigma);
    double low = wanted * wanted, high = sigma * sigma;
    for (int k = 0; k < halvings; ++k) {
      const double middle = (low + high) / 2;
      (counts(std::sqrt(middle)) ? high : low) = middle;
    }
    return std::sqrt(high);
  }

  SmoothingPath path_;
  uint64_t seed_;
  int64_t moves_, annealing_steps_;
};

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  const auto path = path_setting(settings, context.posterior);
  const auto moves = settings.integer("moves", 5, {1, 1e6});
  return std::make_unique<Smc>(context.posterior, context.seed, path, moves, context.steps);
}

}  // namespace

extern const SamplerEntry smc{.name = "smc",
                              .summary = "sequential Monte Carlo along the prior's smoothing: modes keep their weights",
                              .make = make,
                              .annealed = true};

}  // namespace penumbra
