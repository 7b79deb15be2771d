/// How far a score is from a gradient: its integral around closed triangles, the circulation, which is 0 for one.
///
/// A learned score need not be the gradient of any log density; then the odds of two modes depend on the way between
/// them, by as much as the integral around both ways.
#pragma once

#include "theory/segment_work.h"

namespace penumbra::theory {

struct LoopOptions {
  /// Of each side, a multiple of 4: Clenshaw and Curtis's rule, and the one with half as many on every other point.
  int64_t intervals = 16;
  int64_t batch = 16;  ///< points whose score is taken together
};

/// Nats, float64.
struct ClosedLoops {
  Tensor circulation;  ///< [N]
  Tensor error;        ///< [N]: |one rule - the other| around the triangle
  Tensor work;         ///< [N, 3]: along the sides, from corner 0 to 1, 1 to 2 and 2 to 0
  int64_t evaluations = 0;
};

/// corners: [N, 3, ...], float64 on the CPU. A corner's score serves both of its sides.
ClosedLoops closed_loops(const ScoreField& score, const Tensor& corners, const LoopOptions& options = {});

}  // namespace penumbra::theory
