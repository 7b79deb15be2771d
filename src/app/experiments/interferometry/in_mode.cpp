#include "app/experiments/interferometry/in_mode.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "samplers/resampling.h"

namespace penumbra::app::interferometry {
namespace {

constexpr double wanted = 0.55;       // of the steps accepted: about the best for Langevin proposals
constexpr double first_power = 1e-4;  // of the likelihood: 1 over the stiffest direction
constexpr double kept_share = 0.5;    // of the chains that count after a rise of the power

/// A batch of chains on even^a phases^b N(mean, I).
class Chains {
 public:
  Chains(const TwoModeCoordinates& c, const InModeOptions& options) : c_(c), options_(options), d_(c.dimension()) {
    mean_ = at::zeros({d_}, at::kDouble);
    mean_[d_ - 1] = c.separation;
    W_ = at::eye(d_, at::kDouble), K_ = W_;
    const auto like = at::empty({options.chains, d_}, at::kDouble);
    now_ = at_point(mean_ + normal({options.seed, 0, 0}, Stream::start, like));
  }

  void let_even_data_in() {
    for (int64_t t = 1; t <= options_.temperatures; ++t) {
      even_power_ = std::pow(first_power, 1 - static_cast<double>(t) / static_cast<double>(options_.temperatures));
      now_ = at_point(now_.u);
      move(options_.warm_up, /*learning=*/true);
    }
    move(options_.steps, /*learning=*/false);
  }

  /// To the other mode of a posterior without phases.
  void turn() {
    mean_ = mean_ * c_.signs;
    // Rows and columns of the metric change their signs together.
    W_ = W_ * c_.signs.unsqueeze(1), K_ = K_ * c_.signs.unsqueeze(1);
    now_ = at_point(now_.u * c_.signs);
    k_ += 1'000'000;  // other noise than that of the first mode
    taken_ = 0;
  }

  InMode let_phases_in() {
    InMode result;
    while (c_.phases && phase_power_ < 1) {
      const auto energy = c_.phases->value(shaped(now_.u));
      const double rise = next_rise(energy);
      const auto log_weight = -rise * energy;
      result.log_evidence += log_mean_exp(log_weight);
      phase_power_ = std::min(1.0, phase_power_ + rise);
      now_ = at_point(now_.u.index_select(0, systematic_resampling(log_weight, {options_.seed, 0, ++k_})));
      result.accepted = move(options_.moves, /*learning=*/true);
      ++result.levels;
    }
    result.u = shaped(now_.u);
    result.evaluations = taken_ * options_.chains;
    return result;
  }

 private:
  struct Point {
    Tensor u, energy, score, grad;
  };

  Tensor shaped(const Tensor& u) const { return u.view({-1, 1, 1, d_}); }

  Point at_point(const Tensor& u) const {
    const auto x = shaped(u);
    auto g = even_power_ * c_.even->value(x);
    auto grad = even_power_ * flat(c_.even->grad(x));
    if (phase_power_ > 0) {
      g = g + phase_power_ * c_.phases->value(x);
      grad = grad + phase_power_ * flat(c_.phases->grad(x));
    }
    const auto away = u - mean_;
    return {u, g + away.square().sum(1) / 2, -grad - away, grad};
  }

  /// By halving: what leaves `kept_share` of the chains as effective ones.
  double next_rise(const Tensor& energy) const {
    double low = 0, high = 1 - phase_power_;
    const double least = kept_share * static_cast<double>(options_.chains);
    if (effective_count(-high * energy) >= least) return high;
    for (int k = 0; k < 40; ++k) {
      const double middle = (low + high) / 2;
      (effective_count(-middle * energy) >= least ? low : high) = middle;
    }
    return high;
  }

  /// The share of proposals accepted. The step size always learns, the metric where asked: slow changes that fade.
  double move(int64_t steps, bool learning) {
    double accepted = 0;
    std::vector<Tensor> grads;
    for (int64_t k = 0; k < steps; ++k) {
      const double share = step();
      accepted += share / static_cast<double>(steps);
      gamma_ *= std::exp(0.2 * (share - wanted));
      if (2 * k >= steps) grads.push_back(now_.grad);
    }
    if (learning) learn(at::cat(grads));
    return accepted;
  }

  /// With P = W W^T the proposal is u + gamma P score + sqrt(2 gamma) W z.
  double step() {
    const Cursor at{options_.seed, 0, ++k_};
    ++taken_;
    const auto z = normal(at, Stream::langevin, now_.u);
    const auto there = at_point(now_.u + (gamma_ * now_.score.mm(W_) + std::sqrt(2 * gamma_) * z).mm(W_.t()));
    const auto back = (now_.u - there.u).mm(K_) - gamma_ * there.score.mm(W_);
    const auto log_ratio = now_.energy - there.energy + z.square().sum(1) / 2 - back.square().sum(1) / (4 * gamma_);
    const auto threshold = uniform(at, Stream::churn, at::empty({options_.chains, 1}, at::kDouble)).squeeze(1).log();
    const auto moves = threshold.lt(log_ratio);  // false for NaN
    const auto rows = moves.unsqueeze(1);
    now_ = {at::where(rows, there.u, now_.u), at::where(moves, there.energy, now_.energy),
            at::where(rows, there.score, now_.score), at::where(rows, there.grad, now_.grad)};
    return moves.to(at::kDouble).mean().item<double>();
  }

  /// W = K^-T, K K^T = I + Cov(grad g).
  void learn(const Tensor& grads) {
    const auto centred = grads - grads.mean(0);
    const auto eye = at::eye(d_, at::kDouble);
    K_ = at::linalg_cholesky(eye + centred.t().mm(centred) / static_cast<double>(grads.size(0)));
    W_ = at::inverse(K_).t().contiguous();
  }

  const TwoModeCoordinates& c_;
  InModeOptions options_;
  int64_t d_;
  Tensor mean_, W_, K_;
  double even_power_ = first_power, phase_power_ = 0, gamma_ = 0.1;
  int64_t k_ = 0, taken_ = 0;
  Point now_;
};

double logistic(double u) { return 1 / (1 + std::exp(-u)); }

}  // namespace

std::pair<InMode, InMode> sample_modes(const TwoModeCoordinates& coordinates, const InModeOptions& options) {
  const c10::NoGradGuard no_gradients;
  Chains first(coordinates, options);
  first.let_even_data_in();
  auto second = first;
  second.turn();
  auto mean = first.let_phases_in();
  return {std::move(mean), second.let_phases_in()};
}

double LadderOdds::weight() const { return logistic(log_odds); }
double LadderOdds::weight_error() const { return weight() * (1 - weight()) * error; }

LadderOdds ladder_odds(const TwoModeCoordinates& coordinates, int64_t groups, const InModeOptions& options) {
  LadderOdds odds;
  for (int64_t g = 0; g < groups; ++g) {
    auto own = options;
    own.seed = options.seed * 1000 + static_cast<uint64_t>(g);
    odds.last = sample_modes(coordinates, own);
    const auto& [first, second] = odds.last;
    odds.each.push_back(first.log_evidence - second.log_evidence);
    odds.evaluations += first.evaluations + second.evaluations;
  }
  const auto each = at::tensor(odds.each, at::kDouble);
  odds.log_odds = each.mean().item<double>();
  odds.error = groups > 1 ? (each.std(true) / std::sqrt(static_cast<double>(groups))).item<double>() : INFINITY;
  return odds;
}

}  // namespace penumbra::app::interferometry
