#include "theory/closed_loops.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "core/quadrature.h"

namespace penumbra::theory {
namespace {

struct Rule {
  Tensor at, weight;  ///< [intervals + 1]
};

Rule rule_of(int64_t intervals) {
  std::vector<double> at_, weight;
  for (const auto& [t, w] : clenshaw_curtis(static_cast<int>(intervals))) at_.push_back(t), weight.push_back(w);
  return {at::tensor(at_, at::kDouble), at::tensor(weight, at::kDouble)};
}

/// v . score at the points of all sides, [N, 3, intervals + 1].
Tensor slopes(const ScoreField& score, const Tensor& corners, const Tensor& t, int64_t batch) {
  const auto n = corners.size(0), intervals = t.size(0) - 1, points = n * 3 * intervals;
  const auto from = corners.flatten(0, 1), v = corners.roll(-1, 1).flatten(0, 1) - from;
  const auto before = v.reshape_as(corners).roll(1, 1).flatten(0, 1);  // the side that ends where this one begins
  auto own = at::empty({points}, at::kDouble), ended = at::empty({points}, at::kDouble);
  for (int64_t first = 0; first < points; first += batch) {
    const auto point = at::arange(first, std::min(first + batch, points));
    const auto side = point.div(intervals, "floor");
    const auto v_here = v.index_select(0, side);
    const auto x =
        from.index_select(0, side) + per_chain(t.index_select(0, point.remainder(intervals)), v_here) * v_here;
    const auto s = flat(score(x).to(at::kCPU, at::kDouble));
    own.narrow(0, first, point.size(0)).copy_((flat(v_here) * s).sum(1));
    ended.narrow(0, first, point.size(0)).copy_((flat(before.index_select(0, side)) * s).sum(1));
  }
  const auto last = ended.reshape({n, 3, intervals}).select(2, 0).roll(-1, 1);
  return at::cat({own.reshape({n, 3, intervals}), last.unsqueeze(2)}, 2);
}

}  // namespace

ClosedLoops closed_loops(const ScoreField& score, const Tensor& corners, const LoopOptions& options) {
  if (corners.dim() < 3 || corners.size(1) != 3)
    input_error("closed loops: expected three corners of each, [N, 3, ...], found {}", describe(corners.sizes()));
  if (options.intervals < 4 || options.intervals % 4 != 0)
    input_error("closed loops: expected a multiple of 4 as the number of intervals, found {}", options.intervals);
  const auto fine = rule_of(options.intervals), coarse = rule_of(options.intervals / 2);
  const auto h = slopes(score, corners, fine.at, options.batch);
  ClosedLoops result;
  result.work = h.matmul(fine.weight);
  result.circulation = result.work.sum(1);
  result.error = (h.slice(2, 0, h.size(2), 2).matmul(coarse.weight).sum(1) - result.circulation).abs();
  result.evaluations = corners.size(0) * 3 * options.intervals;
  return result;
}

}  // namespace penumbra::theory
