/// Samples of a mode brought nearer to the posterior by a few Langevin steps that shrink.
///
/// A chain of step gamma is too wide by 1/(1 - gamma lambda / 2) along a direction of curvature lambda. Odds of modes
/// of unequal shapes are then off by about half of the sum of that excess times the log-ratio of the variances: nats,
/// for images. The directions that are too wide are the stiff ones, which forget in a few steps.
#pragma once

#include <cstdint>

#include "theory/segment_work.h"

namespace penumbra::theory {

struct RelaxationOptions {
  int64_t steps = 100;
  double first = 0.5, last = 0.025;  ///< gamma L, falling geometrically; the stiffest direction ends 1.5 % too wide
  uint64_t seed = 0;
  int64_t batch = 256;
};

struct Relaxed {
  Tensor x;  ///< the samples as they were where the steps led out of the mode
  bool moved = false;
  double curvature = 0;  ///< L
  int64_t evaluations = 0;
};

/// x: [n, ...] of one mode, float64 on the CPU, n >= 2.
Relaxed relax(const ScoreField& score, const Tensor& x, const RelaxationOptions& options = {});

}  // namespace penumbra::theory
