/// L_g and L_sigma, the Lipschitz constants of grad g (Assumption 1) and of S(., sigma) (Assumption 3a), as the largest
/// norm of the derivative found at given points: a lower estimate of the supremum unless a formula gives it.
#pragma once

#include <functional>

#include "core/tensor.h"
#include "likelihoods/likelihood.h"
#include "priors/score.h"

namespace penumbra::theory {

struct LipschitzOptions {
  int64_t max_iterations = 200;
  double tolerance = 1e-6;  ///< relative change of the estimate at every point
  uint64_t seed = 0;        ///< of the starting directions
};

/// For advice on a step: to a hundredth, in a fraction of the time.
inline constexpr LipschitzOptions quick_lipschitz{.max_iterations = 30, .tolerance = 1e-2};

struct Lipschitz {
  enum class Method {
    formula,      ///< the likelihood's own
    autograd,     ///< power iteration on J^T J with exact products
    differences,  ///< power iteration on J, J v by central differences; J is symmetric if the map is a gradient
  };
  double value = 0;  ///< the largest over the points
  Tensor per_point;  ///< [points]; undefined for a formula
  Tensor direction;  ///< [points, image] of unit length: along it the map changes most; undefined for a formula
  int64_t iterations = 0;
  bool converged = true;
  Method method = Method::formula;
};

std::string name_of(Lipschitz::Method method);

/// points: [points, image].
Lipschitz likelihood_lipschitz(const Likelihood& likelihood, const Tensor& points,
                               const LipschitzOptions& options = {});
/// [points, image] of unit length: along it grad g changes most. By power iteration, even where a formula has L_g.
Tensor stiffest_direction(const Likelihood& likelihood, const Tensor& points, const LipschitzOptions& options = {});
Lipschitz score_lipschitz(const Score& score, const Tensor& points, double sigma, const LipschitzOptions& options = {});

/// v . J v at every point, J the derivative of a gradient or a score, by one central difference; v of unit length.
Tensor curvature_along(const std::function<Tensor(const Tensor&)>& gradient, const Tensor& points, const Tensor& v);

}  // namespace penumbra::theory
