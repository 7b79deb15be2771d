/// The left-hand side of the theorems, computed: the Fisher information of the interpolated process averaged over
/// time, along the exact Gaussian law, with the L2(nu_t) constants that the right-hand side needs.
#pragma once

#include <functional>

#include "theory/gaussian_law.h"

namespace penumbra::theory {

struct LawAverage {
  double fisher_information = 0;  ///< (1 / N gamma) int FI(nu_t || pi) dt
  double KL0 = 0;                 ///< KL(nu_0 || pi)
  /// Suprema over the quadrature nodes t of the L2(nu_t) norms of
  double C = 0;    ///< (grad log p_sigma_k - grad log p) / sigma_k
  double R_g = 0;  ///< grad g
  double R_s = 0;  ///< S at the point where the discretisation takes it
};

/// N steps from the law `start`; `step_at` gives the step of each iteration. `nodes` (1 to 8) Gauss-Legendre points a
/// step. Costs a Cholesky factorisation of [n, n] a node.
LawAverage average_along_law(const LinearGaussian& problem, const GaussianLaw& start, int64_t N,
                             const std::function<LawStep(int64_t)>& step_at, int nodes = 8);

}  // namespace penumbra::theory
