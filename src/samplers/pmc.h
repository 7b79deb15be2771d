/// Plug-and-play Monte Carlo: Algorithm 1 (PMC-PnP, PMC-RED) and Algorithm 2 (APMC-PnP, APMC-RED).
#pragma once

#include <limits>

#include "core/settings.h"
#include "samplers/capturable.h"

namespace penumbra {

/// What `momentum` may be.
inline constexpr Bounds shares_of_a_step{0, 0.99};

/// Algorithm 1: one sigma throughout.
class Pmc final : public CapturableSampler {
 public:
  struct Options {
    Discretization discretization = Discretization::red;
    double gamma = 0;
    double sigma = 0;
  };
  Pmc(Posterior posterior, uint64_t seed, Options options);
  Moved move(const Tensor& x, const StepScalars& numbers, const Cursor& at) const override;
  StepNumbers numbers(int64_t k) const override;
  Annealing annealing(int64_t) const override { return {options_.sigma, 1}; }
  double step_size() const override { return options_.gamma; }

 private:
  Options options_;
};

/// Algorithm 2: sigma_k and alpha_k fall along a schedule. What follows `schedule` is not in the paper.
class AnnealedPmc final : public CapturableSampler {
 public:
  struct Options {
    Discretization discretization = Discretization::red;
    double gamma = 0;
    std::shared_ptr<const Schedule> schedule;
    bool warm = false;             ///< noise of variance 2 gamma_k alpha_k in place of 2 gamma
    bool denoised = false;         ///< until the schedule settles, the data are compared with D(x), not with x
    bool added_noise = false;      ///< data are annealed by Likelihood::noisier, not by division
    bool chain_rule = false;       ///< with denoised: the gradient of g(D(x)), and not that of g at D(x)
    bool denoise_records = false;  ///< image() is D(x), not x
    double pull = std::numeric_limits<double>::infinity();  ///< bound on gamma_k alpha_k / sigma_k^2
    double resample = 0;  ///< share of the chains that must count, else they are resampled; 0: never
    double momentum = 0;  ///< share of a step that the next one repeats
    int64_t steps = 1;    ///< of the run: the last of them has the step size that is told
  };
  AnnealedPmc(Posterior posterior, uint64_t seed, Options options);
  StepInfo step(ChainState& state) const override;
  Moved move(const Tensor& x, const StepScalars& numbers, const Cursor& at) const override;
  StepNumbers numbers(int64_t k) const override;
  void carry(const Tensor& x, const StepNumbers& numbers, ChainState& state) const override;
  /// Those before the schedule settles, and those after, where they differ.
  int64_t operations(int64_t k) const override { return options_.denoised && !settled(k) ? 1 : 0; }
  std::optional<std::string> obstacle(int64_t k) const override;
  /// x carries noise of sigma_min, which the smoothed prior takes for image; the denoised x is the image without.
  Tensor image(const ChainState& state) const override;
  Annealing annealing(int64_t k) const override { return options_.schedule->at(k); }
  /// That of the last iteration.
  double step_size() const override { return step_size(options_.steps - 1); }
  bool is_the_papers() const override;
  bool keeps_layers() const override { return options_.denoised && options_.chain_rule; }
  /// The chains' log weights.
  int64_t shared_count(int64_t chains) const override { return couples_chains() ? chains : 0; }
  bool couples_chains() const override { return options_.resample > 0; }
  double momentum() const override { return options_.momentum; }

 private:
  struct Drift {
    Tensor grad_g, score;
  };
  Drift drift(const Tensor& x, const StepScalars& numbers, const Cursor& at) const;
  double step_size(int64_t k) const;
  double temperature(double alpha) const { return options_.warm ? alpha : 1; }
  bool settled(int64_t k) const;

  Tensor data_pull(const Tensor& x, const StepScalars& numbers) const;
  /// What the data say at a level, [chains], up to a constant of the level.
  Tensor energy(const Tensor& x, double alpha) const;
  void select(ChainState& state) const;

  Options options_;
  Annealing settled_;
};

}  // namespace penumbra
