/// The Gaussian problems of tests/vectors, for the tests of the theory.
#pragma once

#include "support/paths.h"
#include "theory/gaussian_law.h"

namespace penumbra::theory {

inline LinearGaussianProblem problem_of(const nlohmann::json& all) {
  return {test::tensor(all["A"]), test::tensor(all["y"]), all["beta2"], test::tensor(all["mu"]),
          test::tensor(all["Sigma"])};
}

inline Discretization discretization_of(const std::string& name) {
  return name == "pnp" ? Discretization::pnp : Discretization::red;
}

/// The step with sigma_k = max(sigma_0 xi^k, sigma_min), alpha_k = max(alpha_0 sigma_k^2, 1).
inline LawStep annealed_step(const nlohmann::json& schedule, LawStep step, int64_t k) {
  const double sigma =
      std::max(schedule["sigma0"].get<double>() * std::pow(schedule["xi"].get<double>(), static_cast<double>(k)),
               schedule["sigma_min"].get<double>());
  step.annealing = {sigma, std::max(schedule["alpha0"].get<double>() * sigma * sigma, 1.0)};
  return step;
}

}  // namespace penumbra::theory
