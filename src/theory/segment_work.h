/// The work log pi(to) - log pi(from) along straight segments, from the score of pi alone: the integral over t in [0,
/// 1] of h(t) = v . score(from + t v), v = to - from.
///
/// Between two Gaussian modes h falls along a line on either side and rises by J = v' C^-1 v where the segment changes
/// mode, over a logistic curve of width 1/J: too narrow for any fixed rule once the modes are far apart. The rise is
/// found on the integrand itself, and the stretch of 12/J on either side of it gets nodes of its own.
#pragma once

#include <functional>

#include "core/tensor.h"

namespace penumbra::theory {

/// grad log pi of each row; [N, ...] to the same shape. Given float64 on the CPU.
using ScoreField = std::function<Tensor(const Tensor& x)>;

struct WorkOptions {
  int64_t batch = 256;             ///< points whose score is taken together
  double tolerance = 0.005;        ///< nats: a stretch on which two rules differ by more is halved
  int64_t most_evaluations = 400;  ///< for a segment, on average; then the error estimate says what is left
};

/// One number a segment, float64.
struct SegmentWork {
  Tensor work;
  Tensor error;      ///< the sum over the stretches of |fine rule - coarse rule|
  Tensor switch_at;  ///< t of the change of mode; NaN where h has no rise worth one
  Tensor jump;       ///< J there, by extrapolation from both sides
  int64_t evaluations = 0;
};

/// from and to: [N, ...], float64 on the CPU.
SegmentWork segment_work(const ScoreField& score, const Tensor& from, const Tensor& to,
                         const WorkOptions& options = {});

}  // namespace penumbra::theory
