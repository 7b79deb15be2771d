/// The posterior pi(x|y) ~ l(y|x) p(x), known through the gradient of g = -log l and the score of p.
#pragma once

#include <memory>

#include "likelihoods/likelihood.h"
#include "priors/score.h"

namespace penumbra {

struct Posterior {
  std::shared_ptr<const Likelihood> likelihood;
  std::shared_ptr<const Score> prior;

  const Shape& image_shape() const { return prior->image_shape(); }

  /// grad log pi_sigma(x|y) = -grad g(x) + S(x, sigma).
  Tensor score(const Tensor& x, double sigma, const Cursor& at = {}) const;
};

}  // namespace penumbra
