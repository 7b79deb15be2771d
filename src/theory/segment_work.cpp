#include "theory/segment_work.h"

#include <ATen/ATen.h>

#include <cmath>
#include <vector>

#include "core/quadrature.h"

namespace penumbra::theory {
namespace {

constexpr int64_t scan_intervals = 16;
/// Below it 12/J is half of the segment, which then gets the transition's nodes as a whole.
constexpr double sharp = 24;
constexpr double margin = 12;  // e^-12: what a logistic curve has left of its step
/// The switch need only be known to a fraction of its width, since it is integrated and not modelled.
constexpr double located = 0.5;

/// h at any points of any segments, with the bill.
class Segments {
 public:
  Segments(const ScoreField& score, const Tensor& from, const Tensor& to, int64_t batch)
      : score_(score), from_(from), v_(to - from), batch_(batch) {}

  int64_t count() const { return from_.size(0); }
  int64_t evaluations() const { return evaluations_; }

  /// segments (numbers of them) and t are [M].
  Tensor slope(const Tensor& segments, const Tensor& t) {
    auto h = at::empty_like(t);
    for (int64_t first = 0; first < t.size(0); first += batch_) {
      const auto size = std::min(batch_, t.size(0) - first);
      const auto own = segments.narrow(0, first, size);
      const auto v = v_.index_select(0, own);
      const auto x = from_.index_select(0, own) + per_chain(t.narrow(0, first, size), v) * v;
      h.narrow(0, first, size).copy_((flat(v) * flat(score_(x).to(at::kCPU, at::kDouble))).sum(1));
    }
    evaluations_ += t.size(0);
    return h;
  }

 private:
  const ScoreField& score_;
  Tensor from_, v_;
  int64_t batch_, evaluations_ = 0;
};

struct Line {
  double at = 0, value = 0, slope = 0;
  double operator()(double t) const { return value + slope * (t - at); }
};

/// Where one segment changes mode, if it does.
struct Switch {
  Line left, right;
  double low = 0, high = 1;  ///< t lies between

  double middle() const { return (low + high) / 2; }
  double jump() const { return right(middle()) - left(middle()); }
  bool is_sharp() const { return jump() > sharp; }
  bool is_located() const { return !is_sharp() || jump() * (high - low) < located; }
};

/// From h on the scan: the interval of the largest rise, and the lines through two nodes on either side of it. The
/// interval's own ends are left out, for they may lie in the transition. Where a side has one node only, its line is
/// parallel to the other's.
Switch bracket(const double* h) {
  constexpr double step = 1.0 / scan_intervals;
  int64_t k = 0;
  for (int64_t i = 0; i < scan_intervals; ++i)
    if (h[i + 1] - h[i] > h[k + 1] - h[k]) k = i;
  const auto line = [&](int64_t node, int64_t towards) {
    return Line{static_cast<double>(node) * step, h[node], (h[node] - h[towards]) / (step * (node - towards))};
  };
  Switch found;
  found.low = static_cast<double>(k) * step, found.high = found.low + step;
  const bool left = k >= 2, right = k + 3 <= scan_intervals;
  found.left = left ? line(k - 1, k - 2) : Line{0, h[0], 0};
  found.right = right ? line(k + 2, k + 3) : Line{1, h[scan_intervals], 0};
  if (!left) found.left.slope = found.right.slope;
  if (!right) found.right.slope = found.left.slope;
  return found;
}

std::vector<Switch> find_switches(Segments& segments) {
  const auto n = segments.count();
  const auto nodes = at::arange(scan_intervals + 1, at::kDouble) / scan_intervals;
  const auto h = segments.slope(at::arange(n).repeat_interleave(scan_intervals + 1), nodes.repeat({n}));
  std::vector<Switch> found;
  for (int64_t i = 0; i < n; ++i) found.push_back(bracket(h.data_ptr<double>() + i * (scan_intervals + 1)));
  // Halved by asking which side's line h(t) is nearer to; at most 60 times, when t has no digits left.
  for (int round = 0; round < 60; ++round) {
    std::vector<int64_t> open;
    std::vector<double> t;
    for (int64_t i = 0; i < n; ++i)
      if (!found[i].is_located()) open.push_back(i), t.push_back(found[i].middle());
    if (open.empty()) break;
    const auto value = segments.slope(at::tensor(open, at::kLong), at::tensor(t, at::kDouble));
    for (size_t j = 0; j < open.size(); ++j) {
      auto& own = found[open[j]];
      const double here = value[static_cast<int64_t>(j)].item<double>();
      const bool left = std::abs(here - own.left(t[j])) < std::abs(here - own.right(t[j]));
      (left ? own.low : own.high) = t[j];
    }
  }
  return found;
}

/// [begin, begin + width] of a segment each.
struct Stretches {
  std::vector<int64_t> segment;
  std::vector<double> begin, width;

  void add(int64_t of, double from, double to) {
    if (!(to > from)) return;
    segment.push_back(of), begin.push_back(from), width.push_back(to - from);
  }
};

Tensor integral(Segments& segments, const Stretches& stretches, int nodes) {
  const auto count = static_cast<int64_t>(stretches.segment.size());
  std::vector<double> at_, weight_;
  for (const auto& [t, w] : gauss_legendre(nodes)) at_.push_back(t), weight_.push_back(w);
  const auto begin = at::tensor(stretches.begin, at::kDouble).unsqueeze(1);
  const auto width = at::tensor(stretches.width, at::kDouble).unsqueeze(1);
  const auto t = begin + width * at::tensor(at_, at::kDouble);
  const auto h = segments.slope(at::tensor(stretches.segment, at::kLong).repeat_interleave(nodes), t.flatten());
  return (h.reshape({count, nodes}) * width).mv(at::tensor(weight_, at::kDouble));
}

/// Adds to work and error; halves what two rules do not agree on as long as the budget lasts.
void integrate(Segments& segments, Stretches stretches, std::pair<int, int> nodes, const WorkOptions& options,
               SegmentWork& into) {
  while (!stretches.segment.empty()) {
    const auto fine = integral(segments, stretches, nodes.first), coarse = integral(segments, stretches, nodes.second);
    const bool budget = segments.evaluations() < options.most_evaluations * segments.count();
    Stretches halves;
    for (size_t i = 0; i < stretches.segment.size(); ++i) {
      const auto j = static_cast<int64_t>(i);
      const double value = fine[j].item<double>(), error = std::abs(value - coarse[j].item<double>());
      const auto of = stretches.segment[i];
      const double begin = stretches.begin[i], width = stretches.width[i];
      if (error > options.tolerance && budget) {
        halves.add(of, begin, begin + width / 2);
        halves.add(of, begin + width / 2, begin + width);
        continue;
      }
      into.work[of] += value;
      into.error[of] += error;
    }
    stretches = std::move(halves);
  }
}

}  // namespace

SegmentWork segment_work(const ScoreField& score, const Tensor& from, const Tensor& to, const WorkOptions& options) {
  Segments segments(score, from, to, options.batch);
  const auto n = segments.count();
  const auto switches = find_switches(segments);
  SegmentWork result{at::zeros({n}, at::kDouble), at::zeros({n}, at::kDouble), at::full({n}, NAN, at::kDouble),
                     at::zeros({n}, at::kDouble)};
  Stretches transitions, sides;
  for (int64_t i = 0; i < n; ++i) {
    const auto& own = switches[i];
    const double middle = own.middle(), jump = own.jump();
    result.jump[i] = jump;
    const double half = own.is_sharp() ? margin / jump : 1;
    if (own.is_sharp()) result.switch_at[i] = middle;
    const double low = std::max(0.0, middle - half), high = std::min(1.0, middle + half);
    transitions.add(i, low, high);
    sides.add(i, 0, low);
    sides.add(i, high, 1);
  }
  // On [-12, 12] the nearest pole of a logistic curve is at i pi: 24 nodes leave 2e-5 of a nat, 16 leave 1e-3.
  integrate(segments, transitions, {24, 16}, options, result);
  integrate(segments, sides, {8, 5}, options, result);
  result.evaluations = segments.evaluations();
  return result;
}

}  // namespace penumbra::theory
