/// g(x) = the sum of weighted energies of an interferometer's data: closure phases, closure amplitudes, amplitudes,
/// visibilities, the total flux (docs/interferometry-likelihood.md).
#pragma once

#include <optional>
#include <utility>

#include "likelihoods/interferometry_terms.h"
#include "likelihoods/likelihood.h"
#include "vlbi/dft.h"

namespace penumbra {

enum class ClosureErrors { diagonal, covariance };

/// A weight of 0 leaves a term out.
struct InterferometryOptions {
  vlbi::PixelGrid grid = {};
  double jy_per_unit = 1;  ///< Jy a pixel for one unit of x
  double black = 0;        ///< the x of no brightness

  double closure_phase = 0, log_closure_amplitude = 0, amplitude = 0, visibility = 0;
  PhaseLaw phase_law = PhaseLaw::cosine;
  ClosureErrors errors = ClosureErrors::diagonal;
  bool debias_amplitudes = true;

  struct Flux {
    double weight = 1, value = 0, sd = 1;  ///< Jy
  };
  std::optional<Flux> flux = {};

  /// No datum, but a convention where the data know no position: the light's first moments, over `total`, are 0 to
  /// `sd`.
  struct Position {
    double weight = 1, sd = 0;  ///< radians
    double total = 0;           ///< Jy
  };
  std::optional<Position> position = {};
};

/// What the likelihood of other visibilities on the same baselines is made from: a simulation's own has other terms.
struct InterferometryRecipe {
  InterferometryOptions options;
  vlbi::ClosureOptions closures;
};

class InterferometryLikelihood final : public Likelihood {
 public:
  /// Throws InputError on rows without a positive SD or that are not finite, and on terms without data.
  InterferometryLikelihood(Shape image_shape, vlbi::Observation observation, const vlbi::Closures& closures,
                           const InterferometryOptions& options, const Placement& placement,
                           std::optional<InterferometryRecipe> recipe = {});

  /// g and its gradient from one product by A and one by its transpose, where both are wanted at one x.
  std::pair<Tensor, Tensor> value_and_grad(const Tensor& x) const;

  /// chi^2 of each kind as the field has it, a mean: ehtim's chisq.
  std::vector<Misfit> misfit(const Tensor& x) const override;

  DataFacts data_facts() const override;

  /// g has no largest curvature: near a null of V phases turn at will. Where the image explains the data, V is what was
  /// measured, and the curvature there the largest eigenvalue of A^T (d^2 g / dV^2) A.
  std::optional<double> typical_curvature() const override;

  /// The same variance is added to every visibility: coarse structure, seen by strong baselines whose noise is a share
  /// of them, keeps its say while the faintest are muted.
  std::shared_ptr<const Likelihood> noisier(const Tensor& alpha) const override;

  /// Visibilities with their thermal noise, complex [chains, m], Jy: all closures are formed from them.
  Tensor simulate(const Tensor& x, const Cursor& at) const override;

  /// That of other visibilities, complex [m]; by the recipe, without which InputError is thrown.
  std::shared_ptr<const Likelihood> with_data(const Tensor& V) const;

  const vlbi::Observation& observation() const { return observation_; }
  /// |V| of the images x, Jy, [chains, visibilities].
  Tensor model_amplitudes(const Tensor& x) const;

 private:
  struct Weighted {
    double weight;
    TermPointer term;
    bool in_kernel = false;  ///< its energy and pull come with all closures'
  };
  Tensor do_value(const Tensor& x) const override;
  Tensor do_grad(const Tensor& x) const override;
  ModelVisibilities visibilities(const Tensor& x) const;
  /// V as [2 m, chains], real parts above imaginary ones.
  ModelVisibilities model(const Tensor& V, Tensor flux) const;
  Tensor measured() const;
  Tensor value_at(const ModelVisibilities& V, const Tensor& x) const;
  Tensor grad_at(const ModelVisibilities& V, const Tensor& x) const;

  /// Its g alone: the observation stays as it was measured.
  InterferometryLikelihood(const InterferometryLikelihood& quiet, const MoreNoise& more);
  void make_terms();
  /// East and north of the light's centre in units of their SD, [chains, 2].
  Tensor off_centre(const Tensor& x) const;

  vlbi::Observation observation_;
  vlbi::Closures closures_;
  std::vector<double> amplitudes_;  ///< debiased where asked for: 0 where the noise is larger
  InterferometryOptions options_;
  std::optional<InterferometryRecipe> recipe_;
  Placement placement_;
  double jy_per_unit_, black_;
  double softening_;  ///< eps^2, Jy^2
  vlbi::DirectTransform A_;
  std::vector<Weighted> terms_;
  std::unique_ptr<const CudaClosures> kernel_;  ///< null: none for this placement, or for correlated errors
  Tensor moments_;                              ///< [pixels, 2]; undefined where the position is free
};

/// The total flux that the data show, Jy: the median |V| of baselines below 0.1 Glambda, to which the source is a
/// point; without such baselines the largest |V|, which is less.
double visible_flux(const vlbi::Observation& observation);

}  // namespace penumbra
