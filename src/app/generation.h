/// Images drawn from a prior without data, by either method of `penumbra generate`, in batches.
#pragma once

#include "app/progress.h"
#include "samplers/heun.h"

namespace penumbra::app {

struct Generation {
  enum class Method { heun, langevin } method = Method::heun;
  int64_t count = 16, steps = 32, batch = 16;
  double sigma_max = 80, sigma_min = 0.002;
  double rho = 7;  ///< heun
  Churn churn;     ///< heun
  uint64_t seed = 0;
};

struct Generated {
  Tensor images;               ///< [count, channels, height, width] on the CPU
  std::vector<double> sigmas;  ///< the noise levels in their order
  bool diverged = false;       ///< the images are then not all there
};

/// An image depends on (seed, its number) alone, to rounding, whatever the batch.
Generated generate_images(const std::shared_ptr<const Score>& prior, const Generation& how, const Placement& placement);

}  // namespace penumbra::app
