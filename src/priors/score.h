/// The prior as its score: S(x, sigma) = +grad log p_sigma(x), where p_sigma is the prior smoothed by N(0, sigma^2 I).
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra {

struct SigmaRange {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
};

/// D(x, sigma) with its derivative turned round: vjp(v) = J_D(x)^T v, shaped like x.
struct DenoiseVjp {
  Tensor denoised;
  std::function<Tensor(const Tensor& v)> vjp;
};

class Score {
 public:
  explicit Score(Shape image_shape) : image_shape_(std::move(image_shape)) {}
  virtual ~Score() = default;

  /// S(x, sigma), shaped like x. `at` says where in a run the score is taken: only a score with an error of its own
  /// (InexactScore) draws random numbers.
  Tensor score(const Tensor& x, double sigma, const Cursor& at = {}) const;

  /// The same at a sigma that only memory holds: 0-dimensional, float64, on x's device. Nobody looks whether it is in
  /// the range: require_sigma, beforehand. Only where takes_held_sigma().
  Tensor score_held(const Tensor& x, const Tensor& sigma) const;
  virtual bool takes_held_sigma() const { return false; }

  /// Throws InputError unless the score accepts this sigma.
  void require_sigma(double sigma) const;

  /// E[z | z + sigma n = x], the MMSE denoiser.
  Tensor denoise(const Tensor& x, double sigma, const Cursor& at = {}) const;

  /// The same and what its derivative needs, from one evaluation; vjp may be called once.
  DenoiseVjp denoise_vjp(const Tensor& x, double sigma, const Cursor& at = {}) const;
  DenoiseVjp denoise_vjp_held(const Tensor& x, const Tensor& sigma) const;  ///< as score_held
  /// With a level of its own for every chain.
  DenoiseVjp denoise_vjp(const Tensor& x, const std::vector<double>& sigmas, const Cursor& at = {}) const;

  /// log p_sigma(x) per chain, where the prior is a density that can be evaluated.
  virtual std::optional<Tensor> log_density(const Tensor& /*x*/, double /*sigma*/) const { return std::nullopt; }

  /// Exact draws from p, [count, image], where they can be had.
  virtual std::optional<Tensor> draw(int64_t /*count*/, const Cursor& /*at*/) const { return std::nullopt; }

  /// A bound on |S - grad log p_sigma| (Assumption 3b): 0 for analytic priors, unknown for learned ones.
  virtual std::optional<double> error_bound() const { return std::nullopt; }

  /// The noise levels at which the score is known.
  virtual SigmaRange sigma_range() const { return {}; }

  /// Whether the score may be asked for at this level. What is outside the range is refused; ClampedSigmaScore is the
  /// one exception.
  virtual bool accepts(double sigma) const;

  /// (low, high) of the pixels that a learned prior was trained on; none for analytic priors.
  virtual std::optional<std::pair<double, double>> pixel_range() const { return std::nullopt; }

  /// The prior's largest scale: the width of pixel_range(), or four SDs of the draws of a prior without one; nothing
  /// where neither is known.
  virtual std::optional<double> pixel_width() const;

  const Shape& image_shape() const { return image_shape_; }

 private:
  virtual Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const = 0;
  virtual Tensor do_score_held(const Tensor& x, const Tensor& sigma) const;
  /// Default: Tweedie's formula x + sigma^2 S(x, sigma).
  virtual Tensor do_denoise(const Tensor& x, double sigma, const Cursor& at) const;
  virtual Tensor do_denoise_held(const Tensor& x, const Tensor& sigma) const;
  /// Default: neighbours at one level together, level by level.
  virtual Tensor do_denoise_each(const Tensor& x, const std::vector<double>& sigmas, const Cursor& at) const;

  void require(const Tensor& x, double sigma) const;

  Shape image_shape_;
};

/// Registers a prior by the name that `prior.kind` uses.
struct PriorEntry {
  std::string name;
  std::string summary;
  std::shared_ptr<const Score> (*make)(Settings& settings, const Placement& placement);
  /// A small configuration (YAML) on which the contract tests run; empty where a file is needed.
  std::string example = {};
};

const std::vector<const PriorEntry*>& prior_entries();

/// The score of a configuration's `prior` section.
std::shared_ptr<const Score> make_prior(Settings settings, const Placement& placement);

}  // namespace penumbra
