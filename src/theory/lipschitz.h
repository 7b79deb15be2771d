/// L_g and L_sigma, the Lipschitz constants of grad g (Assumption 1) and of S(., sigma) (Assumption 3a), as the largest
/// norm of the derivative found at given points: a lower estimate of the supremum unless a formula gives it.
#pragma once

#include "core/tensor.h"
#include "likelihoods/likelihood.h"
#include "priors/score.h"

namespace penumbra::theory {

struct LipschitzOptions {
  int64_t max_iterations = 200;
  double tolerance = 1e-6;  ///< relative change of the estimate at every point
  uint64_t seed = 0;        ///< of the starting directions
};

struct Lipschitz {
  enum class Method {
    formula,      ///< the likelihood's own
    autograd,     ///< power iteration on J^T J with exact products
    differences,  ///< power iteration on J, J v by central differences; J is symmetric if the map is a gradient
  };
  double value = 0;  ///< the largest over the points
  Tensor per_point;  ///< [points]; undefined for a formula
  int64_t iterations = 0;
  bool converged = true;
  Method method = Method::formula;
};

std::string name_of(Lipschitz::Method method);

/// points: [points, image].
Lipschitz likelihood_lipschitz(const Likelihood& likelihood, const Tensor& points,
                               const LipschitzOptions& options = {});
Lipschitz score_lipschitz(const Score& score, const Tensor& points, double sigma, const LipschitzOptions& options = {});

}  // namespace penumbra::theory
