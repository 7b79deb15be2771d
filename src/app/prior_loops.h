/// How conservative a prior's score is: its integrals around triangles between noisy images (theory/closed_loops.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <vector>

#include "app/progress.h"
#include "priors/score.h"
#include "theory/closed_loops.h"

namespace penumbra::app {

struct LoopPlan {
  int64_t loops = 0;
  double spread = 1;  ///< the images' distances times this; 0: one image with three noises
  std::vector<double> sigmas = {};
  uint64_t seed = 0;  ///< of the choice of images and of the noise
  theory::LoopOptions rule = {};
};

/// [loops, 3, image], float64: different images a + spread (b - a) of `images`, [M, image], M at least 3, each with
/// noise of its own, as S(x, sigma) expects it. Which images and which noise does not depend on sigma.
Tensor loop_corners(const Tensor& images, double sigma, const LoopPlan& plan);

/// A row for each sigma: RMS over the loops, in nats.
nlohmann::json loop_table(const Score& prior, const Tensor& images, const LoopPlan& plan, const at::Device& device,
                          Progress& progress);

/// The same for people.
void print_loops(const nlohmann::json& table);

}  // namespace penumbra::app
