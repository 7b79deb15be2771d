/// The statistical validation's posterior (Section V.B, Suppl. II.B) with the analytic score: a bimodal Gaussian
/// mixture of images seen through a random matrix, whose exact posterior is known.
#pragma once

#include "app/experiments/statistical/images.h"
#include "priors/gaussian_mixture.h"
#include "samplers/sampler.h"

namespace penumbra::app::statistical {

/// The paper's parameters; alpha_0 = 2.5 is what it takes for the analytic score (with 4e3, gamma alpha_0 = 4 and the
/// chains diverge, errata E38).
struct Parameters {
  int64_t side = 32, chains = 1000, steps = 1000;
  double shift = 2;         ///< of the class means, down and up: else they could not be told apart
  double data_share = 0.3;  ///< m / n
  double beta = 0.1;        ///< SD of the noise
  double gamma = 1e-3;
  double sigma_0 = 192, sigma_min = 0.015811388300841896, xi = 0.975, alpha_0 = 2.5;
  double start = 3;  ///< chains start uniformly in [-start, start]^n
};

struct Setting {
  Parameters parameters;
  Images images;
  std::shared_ptr<const GaussianMixture> prior;
  Tensor A, y;                                       ///< [m, n], [m]
  Tensor truth;                                      ///< the test image, [n]
  std::shared_ptr<const GaussianMixture> posterior;  ///< exact
  double separation = 0;                             ///< of its modes, in standard deviations (Mahalanobis)
  double log_odds = 0;                               ///< of the first mode
  double log_odds_sd = 0;                            ///< over the candidates: how undecided a typical image is
  int64_t undecided = 0;                             ///< candidates with |log-odds| < 1.5

  Shape image_shape() const { return {1, parameters.side, parameters.side}; }
  double weight(size_t mode) const { return posterior->components()[mode].weight; }
};

/// Takes the candidate whose log-odds are nearest to 1: for a typical image the posterior has only one mode.
Setting make_setting(const Parameters& parameters, Images images, uint64_t seed);

/// The prior in another precision.
std::shared_ptr<const GaussianMixture> make_prior(const Parameters& parameters, const Images& images,
                                                  const Placement& placement);

}  // namespace penumbra::app::statistical
