/// The network that a benchmark is of: a prior's, or an architecture with random weights.
#pragma once

#include "app/prior_option.h"
#include "priors/network.h"

namespace penumbra::app {

struct BenchOptions {
  PriorOptions prior;  ///< without a prior, `arch` names the architecture: a file, or "paper-256"
  int64_t batch = 10;
  double seconds = 1;  ///< for each row of the table
  bool json = false;
};

/// Every file that has a name of its own is meant before "paper-256", the paper's network for 256x256 pixels.
NetworkHeader bench_header(const std::filesystem::path& arch);

/// With random weights, none of them zero: a product with zeros can be faster than one with numbers. `auto` computes
/// in bfloat16 on a GPU and in float32 on a CPU there, since no trained weights say how much rounding they bear.
std::shared_ptr<const NetworkScore> bench_network(const BenchOptions& options, const Placement& placement);

/// Operations for one image in GFLOP, as Network::operations counts them; NaN where it does not.
double gflop_per_image(const NetworkScore& prior);

/// Images like those of a run's start, [batch, C, H, W].
Tensor bench_images(const Score& prior, int64_t batch, const Placement& placement);

}  // namespace penumbra::app
