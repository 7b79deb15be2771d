/// How far the samples of one iteration are from the posteriors, as the paper measures it (Suppl. II.A): a mixture of
/// two Gaussians is fitted to the samples, FI and KL are sums over 1000 x 1000 cells of [-50, 50]^2.
#pragma once

#include <vector>

#include "theory/mixture.h"

namespace penumbra::app::validation_2d {

/// One number for every posterior.
struct Distances {
  std::vector<double> fi, kl;        ///< NaN while the fit does not lie inside the grid: the first chains still return
  std::vector<double> weight_kl;     ///< the part of KL that the mode weights alone make
  std::vector<double> first_weight;  ///< fitted weight of the first mode
};

/// samples: [posteriors, chains, 2].
Distances distances(const Tensor& samples, const std::vector<theory::Mixture>& posteriors);

/// KL between two distributions over the same modes.
double weight_divergence(const std::vector<double>& q, const std::vector<double>& w);

}  // namespace penumbra::app::validation_2d
