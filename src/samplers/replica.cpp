/// Replica exchange in sigma (Swendsen and Wang 1986; Geyer 1991): every chain has replicas at a ladder of levels
/// sigma_min = sigma_1 < ... < sigma_L = sigma_0 of the prior's smoothing, pi_sigma ~ l p_sigma. A step moves all of
/// them by a Langevin step at their own level and then proposes to exchange neighbours, which is accepted with
/// probability min(1, p_i(b) p_j(a) / (p_i(a) p_j(b))). Where the prior is smooth a replica crosses between modes; what
/// comes down the ladder gives the chain at sigma_min the weights.
///
/// The chains are independent of one another and are those at sigma_min; the state's `shared` holds the step size of
/// each level, then the replicas of the levels above, level by level.
#include <ATen/ATen.h>

#include <cmath>

#include "samplers/sampler.h"
#include "samplers/smoothing_path.h"

namespace penumbra {
namespace {

/// Of sigma_0: below this a level next to sigma = 0 would be as good as it.
constexpr double lowest_share = 0.02;

class Replica final : public Sampler {
 public:
  Replica(Posterior posterior, uint64_t seed, const SmoothingPath::Options& path, int64_t levels, int64_t steps)
      : n_(element_count(posterior.image_shape())), path_(std::move(posterior), path), seed_(seed), steps_(steps) {
    const double low = path.sigma_min > 0 ? path.sigma_min : lowest_share * path.sigma_0;
    const auto rungs = path.sigma_min > 0 ? levels : levels - 1;
    if (path.sigma_min == 0) sigmas_.push_back(0);
    for (int64_t l = 0; l < rungs; ++l)
      sigmas_.push_back(
          rungs == 1 ? path.sigma_0
                     : low * std::pow(path.sigma_0 / low, static_cast<double>(l) / static_cast<double>(rungs - 1)));
  }

  StepInfo step(ChainState& state) const override {
    auto rungs = unpack(state);
    StepInfo info;
    for (int64_t l = 0; l < count(); ++l) {
      auto& [x, gamma] = rungs[static_cast<size_t>(l)];
      const auto moved = path_.move(x, sigma(l), gamma, {seed_, state.first_chain, state.k * count() + l});
      if (l == 0) info = {sigma(0), 1, gamma, moved.grad_norm, moved.score_norm};
      x = moved.x;
      // In the half that is not recorded.
      if (2 * state.k < steps_ && path_.options().metropolis && moved.accepted < 1) gamma = path_.learnt(gamma, moved);
    }
    for (int64_t l = state.k % 2; l + 1 < count(); l += 2) exchange(rungs, l, state);
    pack(rungs, state);
    ++state.k;
    return info;
  }

  Annealing annealing(int64_t) const override { return {sigma(0), 1}; }
  double step_size() const override { return path_.options().step_size; }
  std::optional<double> start_sd() const override { return path_.options().sigma_0; }
  bool is_the_papers() const override { return false; }
  bool couples_chains() const override { return true; }
  int64_t shared_count(int64_t chains) const override { return count() + (count() - 1) * chains * n_; }

 private:
  struct Rung {
    Tensor x;
    double gamma;
  };

  int64_t count() const { return static_cast<int64_t>(sigmas_.size()); }
  double sigma(int64_t l) const { return sigmas_[static_cast<size_t>(l)]; }

  /// All start from the noise of sigma_0, each from its own.
  std::vector<Rung> unpack(const ChainState& state) const {
    std::vector<Rung> rungs{{state.x, path_.step_at(sigma(0))}};
    const auto size = state.x.numel();
    for (int64_t l = 0; l < count(); ++l) {
      if (!state.shared.defined()) {
        if (l > 0)
          rungs.push_back({path_.options().sigma_0 * normal({seed_, state.first_chain, l}, Stream::start, state.x),
                           path_.step_at(sigma(l))});
        continue;
      }
      const double gamma = state.shared[l].item<double>();
      if (l == 0)
        rungs[0].gamma = gamma;
      else
        rungs.push_back({state.shared.narrow(0, count() + (l - 1) * size, size).view_as(state.x), gamma});
    }
    return rungs;
  }

  void pack(const std::vector<Rung>& rungs, ChainState& state) const {
    const auto steps = at::empty({count()}, state.x.options().device(at::kCPU));
    for (int64_t l = 0; l < count(); ++l) steps[l] = rungs[static_cast<size_t>(l)].gamma;
    std::vector<Tensor> parts{steps.to(state.x.device())};
    for (size_t l = 1; l < rungs.size(); ++l) parts.push_back(rungs[l].x.flatten());
    state.x = rungs[0].x;
    state.shared = at::cat(parts);
  }

  void exchange(std::vector<Rung>& rungs, int64_t l, const ChainState& state) const {
    auto &a = rungs[static_cast<size_t>(l)].x, &b = rungs[static_cast<size_t>(l + 1)].x;
    const auto log_ratio = path_.swap_log_ratio(a, sigma(l), b, sigma(l + 1));
    const Cursor at{seed_, state.first_chain, state.k * count() + l};
    const auto u = uniform(at, Stream::resample, at::empty({a.size(0), 1}, at::kDouble)).select(1, 0);
    const auto swaps = per_chain(u.log().lt(log_ratio).to(a.device()), a);
    const auto lower = at::where(swaps, b, a);
    b = at::where(swaps, a, b), a = lower;
  }

  int64_t n_;
  SmoothingPath path_;
  uint64_t seed_;
  int64_t steps_;
  std::vector<double> sigmas_;
};

std::unique_ptr<Sampler> make(Settings& settings, const SamplerContext& context) {
  const auto path = path_setting(settings, context.posterior);
  const auto levels = settings.integer("levels", 12, {2, 1000});
  return std::make_unique<Replica>(context.posterior, context.seed, path, levels, context.steps);
}

}  // namespace

extern const SamplerEntry replica{
    .name = "replica", .summary = "replica exchange between levels of the prior's smoothing", .make = make};

}  // namespace penumbra
