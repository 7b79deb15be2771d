/// What else gives the weights of modes, for problems where no map carries one onto another: sequential Monte Carlo and
/// replica exchange along the prior's smoothing, by the shares of their samples.
#pragma once

#include "app/experiments/weights/case.h"

namespace penumbra::app::weights {

/// A sampler of its own configuration, as in a run's `sampler` section.
struct Alternative {
  std::string name, kind, settings;
  int64_t chains = 0, steps = 0;
};

/// What it found of one posterior.
struct Found {
  std::string name;      ///< of the posterior
  double exact = 0;      ///< weight of the first mode at the samples' smoothing
  double weight = 0;     ///< share of the samples nearer to it than to the second
  double per_chain = 0;  ///< evaluations of the score or the density of one image, for each chain
  double seconds = 0;
};

/// Runs it on a posterior and judges the last iterates; `exact` is the posterior at their smoothing.
Found try_alternative(const Alternative& alternative, const std::string& name, const Posterior& posterior,
                      const GaussianMixture& exact, uint64_t seed);

/// Of all posteriors by one method.
struct MethodSummary {
  std::string method;
  std::vector<Found> found;
};

/// The alternatives of the plane, with densities and with the score alone.
std::vector<Alternative> plane_alternatives(bool quick);
/// Those of images, for the chains' last smoothing and step.
std::vector<Alternative> image_alternatives(double sigma_min, double gamma, bool quick);

/// Method, KL of the weights (mean), largest miss, evaluations a chain, seconds a posterior.
TextTable comparison(const std::vector<MethodSummary>& methods);
/// Each posterior by itself, by log-odds: for images, where weights are too near to 0 or 1 to compare.
TextTable odds_comparison(const std::vector<MethodSummary>& methods);

/// KL(found || exact) of the weights of both modes, the mean over the posteriors.
double mean_divergence(const MethodSummary& summary);

}  // namespace penumbra::app::weights
