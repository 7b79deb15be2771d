// A stranger's program: the README's library example, built against the installed package.
#include <ATen/ATen.h>

#include <cstdio>
#include <memory>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "samplers/pmc.h"

int main() {
  using namespace penumbra;
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const Shape image{1, 2, 2};
  const auto covariance = Covariance::diagonal(at::ones({4}, options));
  const auto prior =
      std::make_shared<GaussianMixture>(image, std::vector{Component{1, at::zeros({4}, options), covariance}});
  const auto A = std::make_shared<DenseModel>(image, at::eye(4, options));
  const auto g = std::make_shared<GaussianLikelihood>(A, at::ones({4}, options), 1.0);

  const Pmc sampler({g, prior}, /*seed=*/1, {.discretization = Discretization::red, .gamma = 0.05, .sigma = 0.0});
  ChainState chains{at::zeros({2000, 1, 2, 2}, options)};
  for (int k = 0; k < 200; ++k) sampler.step(chains);

  // Exact: every pixel has posterior mean 1/2; four standard errors of 8000 draws with variance about 0.53.
  const double mean = chains.x.mean().item<double>();
  std::printf("posterior mean %.4f, exact 0.5\n", mean);
  return std::abs(mean - 0.5) < 4 * 0.73 / 89.4 ? 0 : 1;
}
