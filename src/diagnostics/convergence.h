/// Have the chains forgotten their start, and how many independent draws are theirs worth? Pixel by pixel, from
/// draws [T, chains, pixel shape...] to float64 maps [pixel shape...].
///
/// Which question each statistic can answer:
///  - split R-hat: does each chain on its own explore what all of them explore? Needs chains long against their
///    correlation time; many short chains fail it even when the ensemble as a whole is right.
///  - nested R-hat: do groups of chains agree? It sees the start only where the chains of a group share theirs.
///    Groups of chains with independent starts are exchangeable, so it stays at its null value, converged or not:
///    it then finds groups that differ for another reason (a batch, a device, a seed) and nothing else.
/// For many short chains drift.h asks the question that can be answered: is the ensemble still moving?
/// A pixel whose draws are all equal has R-hat 1 and as many effective draws as draws.
#pragma once

#include "core/tensor.h"

namespace penumbra::diagnostics {

/// Split R-hat (Gelman et al., Bayesian Data Analysis, 3rd ed., sec. 11.4): each chain cut into halves, the middle
/// record of an odd number left out. T >= 4.
Tensor split_rhat(const Tensor& draws);

/// Nested R-hat (Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari and Gelman, Bayesian Analysis, 2024):
/// sqrt(1 + B / W), B the variance between the means of K = `superchains` groups of M = chains / K consecutive
/// chains, W the mean over groups of (variance between the group's chain means + mean variance within its chains).
/// Chains beyond K M are left out. K >= 2, and M >= 2 or T >= 2.
Tensor nested_rhat(const Tensor& draws, int64_t superchains);

/// Groups for the statistic above: about as many groups as chains in a group.
int64_t balanced_superchains(int64_t chains);

/// sqrt(1 + E[B] / E[W]) for converged independent chains whose T records are independent: sqrt(1 + 1 / (M (T + 1)))
/// for T > 1, sqrt(1 + 1 / M) for T = 1. Not 1: the mean of M chains has the variance of one over M. Correlated
/// records lie between the two values, as v, the variance of a chain's mean, goes from sigma^2 / T to sigma^2.
double nested_rhat_null(int64_t chains_per_group, int64_t records);

/// The value that nested R-hat of exchangeable Gaussian chains exceeds with probability 1 - p at T = 1, where
/// M B / W has the F distribution with K - 1 and K (M - 1) degrees of freedom; for T > 1 it is exceeded less often.
double nested_rhat_quantile(int64_t superchains, int64_t chains_per_group, double p);

/// Effective sample size for the mean, all chains together: (chains T) / tau with
/// tau = 1 + 2 sum_t (1 - t / T) rho_t, rho_t = 1 - V_t / (2 var+) from the variogram V_t (Bayesian Data Analysis,
/// sec. 11.5), cut and made monotone in pairs (Geyer, Statistical Science 7, 1992) as in Vehtari et al. (Bayesian
/// Analysis 16, 2021, sec. 3). The variogram and the weight 1 - t / T, which long chains do not notice, make it
/// right for short ones: chains that do not move count one draw each. T < 4 gives the number of chains.
Tensor ess(const Tensor& draws);

}  // namespace penumbra::diagnostics
