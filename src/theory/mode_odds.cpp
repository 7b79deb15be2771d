#include "theory/mode_odds.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace penumbra::theory {
namespace {

/// The works of this many samples of each mode choose the map.
constexpr int64_t pilot_samples = 12;
/// A map that loses less is good enough: nearly all samples count.
constexpr double small_dissipation = 1;

std::vector<int64_t> counts_of(const std::vector<int64_t>& label) {
  std::vector<int64_t> counts;
  for (const auto m : label) {
    if (m < 0) input_error("mode odds: expected labels from 0 on, found {}", m);
    if (m >= static_cast<int64_t>(counts.size())) counts.resize(m + 1);
    ++counts[m];
  }
  if (counts.size() < 2) input_error("mode odds: expected two modes or more, found {}", counts.size());
  for (const auto count : counts)
    if (count < 2) input_error("mode odds: expected at least 2 samples in each mode, found {}", count);
  return counts;
}

/// At most `most` rows, evenly spread.
Tensor some(const Tensor& x, int64_t most) {
  const auto n = x.size(0);
  if (n <= most) return x;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < most; ++i) chosen.push_back(i * n / most);
  return x.index_select(0, at::tensor(chosen, at::kLong));
}

Tensor own_samples(const Tensor& samples, const std::vector<int64_t>& label, int64_t mode) {
  std::vector<int64_t> own;
  for (size_t i = 0; i < label.size(); ++i)
    if (label[i] == mode) own.push_back(static_cast<int64_t>(i));
  return samples.index_select(0, at::tensor(own, at::kLong));
}

struct BothWays {
  SegmentWork forward, backward;
  int64_t evaluations() const { return forward.evaluations + backward.evaluations; }

  /// The gap, or the variance of the works, which is the same for Gaussian works and less often small by chance.
  double dissipation() const {
    const double gap = -(forward.work.mean() + backward.work.mean()).item<double>();
    return std::max(gap,
                    (forward.work.var(/*unbiased=*/true) + backward.work.var(/*unbiased=*/true)).item<double>() / 2);
  }
};

SegmentWork work_between(const ScoreField& score, const Tensor& from, const Tensor& to, const OddsOptions& options) {
  const auto& [prior, energy] = options.split;
  if (!prior) return segment_work(score, from, to, options.work);
  auto result = segment_work(prior, from, to, options.work);
  const auto value = [&](const Tensor& x) { return energy(x).to(at::kCPU, at::kDouble); };
  result.work = result.work + value(from) - value(to);
  return result;
}

BothWays works_of(const ScoreField& score, const ModeMap& map, const Tensor& first, const Tensor& second,
                  const OddsOptions& options) {
  BothWays works{work_between(score, first, map.forward(first), options),
                 work_between(score, second, map.backward(second), options)};
  works.forward.work += map.log_volume();
  works.backward.work -= map.log_volume();
  return works;
}

/// Translation between the summits; another map where few works lose less than half as much with it.
ModeMap choose_map(const ScoreField& score, const ModeSamples& first, const ModeSamples& second,
                   const OddsOptions& options, int64_t& evaluations) {
  const auto few_first = some(first.x, pilot_samples), few_second = some(second.x, pilot_samples);
  std::optional<ModeMap> best;
  double least = 0;
  for (const auto kind : {MapKind::summits, MapKind::scaling, MapKind::means, MapKind::turn}) {
    const auto map = make_map(kind, first, second, options.turn);
    if (!map) continue;
    const auto works = works_of(score, *map, few_first, few_second, options);
    evaluations += works.evaluations();
    const double lost = works.dissipation();
    if (!best || lost < least / 2 || std::isnan(least)) best = map, least = lost;
    if (least < small_dissipation) break;
  }
  return *best;
}

/// The two missing sides of x1 -> T x1 -> x2 -> T^-1 x2 -> x1 lie within the modes; the works are there already.
double loop_rms(const ScoreField& score, const ModeMap& map, const Tensor& first, const Tensor& second,
                const BothWays& works, const OddsOptions& options, int64_t& evaluations) {
  const auto n = std::min({options.loops, first.size(0), second.size(0)});
  const auto x1 = first.narrow(0, 0, n), x2 = second.narrow(0, 0, n);
  const auto there = work_between(score, map.forward(x1), x2, options);
  const auto back = work_between(score, map.backward(x2), x1, options);
  evaluations += there.evaluations + back.evaluations;
  // The volumes cancel, being added to one and taken off the other.
  const auto loop = works.forward.work.narrow(0, 0, n) + there.work + works.backward.work.narrow(0, 0, n) + back.work;
  return loop.square().mean().sqrt().item<double>();
}

/// Written so that a NaN is doubted.
std::string doubt_about(const PairOdds& pair, const OddsLimits& limits) {
  const auto& b = pair.bennett;
  if (!(pair.loop_rms <= limits.loop))
    return fmt::format(
        "closed loops integrate to {:.2g} nats where a gradient gives 0 (at most {:g}): the score is not conservative "
        "enough",
        pair.loop_rms, limits.loop);
  if (!(pair.quadrature <= limits.quadrature))
    return fmt::format("the works are integrated to {:.2g} nats only (at most {:g})", pair.quadrature,
                       limits.quadrature);
  if (!(b.gap <= limits.gap))
    return fmt::format(
        "forward and backward works are {:.3g} nats apart (at most {:g}): the moved samples of one mode "
        "are not like those of the other",
        b.gap, limits.gap);
  // Both Kullback-Leibler divergences are positive; beyond its error a negative gap says that the samples are not the
  // posterior's.
  if (!(b.gap >= -1 - 4 * b.gap_error))
    return fmt::format("forward and backward works are {:.3g} +- {:.2g} nats apart, which no posterior gives", b.gap,
                       b.gap_error);
  if (!(b.effective >= limits.effective))
    return fmt::format("{:.1f} samples decide (at least {:g})", b.effective, limits.effective);
  if (!(b.error() <= limits.error))
    return fmt::format("the log-odds have an error of {:.2g} nats (at most {:g})", b.error(), limits.error);
  return "";
}

PairOdds pair_odds(const ScoreField& score, const ModeSamples& reference, const ModeSamples& other,
                   const OddsOptions& options, int64_t& evaluations) {
  const auto map = choose_map(score, reference, other, options, evaluations);
  const auto &first = reference.x, &second = other.x;
  const auto works = works_of(score, map, first, second, options);
  evaluations += works.evaluations();
  PairOdds pair;
  pair.map = map.kind;
  pair.works = first.size(0) + second.size(0);
  pair.quadrature = at::cat({works.forward.error, works.backward.error}).mean().item<double>();
  if (!at::cat({works.forward.work, works.backward.work}).isfinite().all().item<bool>()) {
    pair.doubt = "the score is not finite between the modes";
    return pair;
  }
  pair.bennett = bennett(works.forward.work, works.backward.work, {.seed = options.seed});
  pair.loop_rms = loop_rms(score, map, first, second, works, options, evaluations);
  pair.doubt = doubt_about(pair, options.limits);
  return pair;
}

std::vector<ModeSamples> describe_modes(const ScoreField& score, const Tensor& samples,
                                        const std::vector<int64_t>& label, const OddsOptions& options, ModeOdds& odds) {
  std::vector<ModeSamples> modes;
  const auto count = *std::max_element(label.begin(), label.end()) + 1;
  for (int64_t mode = 0; mode < count; ++mode) {
    auto own = some(own_samples(samples, label, mode), options.samples);
    if (options.relaxation > 0) {
      const auto relaxed = relax(score, own,
                                 {.steps = options.relaxation,
                                  .seed = options.seed + static_cast<uint64_t>(mode),
                                  .batch = options.work.batch});
      odds.evaluations += relaxed.evaluations;
      own = relaxed.x;
    }
    modes.push_back(describe_samples(own, score));
    odds.evaluations += modes.back().evaluations;
  }
  return modes;
}

/// Joins samples and counts of modes with one summit to those of the first of them, which is returned for each mode.
std::vector<int64_t> join_same(std::vector<ModeSamples>& modes, std::vector<int64_t>& counts) {
  std::vector<int64_t> same_as;
  for (int64_t m = 0; m < static_cast<int64_t>(modes.size()); ++m) {
    same_as.push_back(m);
    for (int64_t k = 0; k < m; ++k) {
      if (same_as[k] != k || !same_summit(modes[k], modes[m])) continue;
      modes[k] = joined(modes[k], modes[m]);
      counts[k] += counts[m], counts[m] = 0;
      same_as[m] = k;
      break;
    }
  }
  return same_as;
}

/// w_j = exp(u_j) / sum exp(u), and its error from those of the u, taken as independent. An error of u_k moves all that
/// are the same as k.
void weigh_by_odds(ModeOdds& odds) {
  const double largest = *std::max_element(odds.log_odds.begin(), odds.log_odds.end());
  double sum = 0;
  for (const double u : odds.log_odds) sum += std::exp(u - largest);
  odds.weight.clear(), odds.weight_error.clear();
  for (const double u : odds.log_odds) odds.weight.push_back(std::exp(u - largest) / sum);
  for (size_t j = 0; j < odds.weight.size(); ++j) {
    double variance = 0;
    for (const auto& pair : odds.pairs) {
      double moved = 0;
      for (size_t k = 0; k < odds.weight.size(); ++k)
        if (odds.same_as[k] == pair.mode) moved += odds.weight[k];
      const double slope = odds.weight[j] * ((odds.same_as[j] == pair.mode ? 1 : 0) - moved);
      variance += slope * slope * pair.bennett.error() * pair.bennett.error();
    }
    odds.weight_error.push_back(std::sqrt(variance));
  }
}

void weigh_by_counts(ModeOdds& odds, const std::vector<int64_t>& counts, double total) {
  for (const auto count : counts) {
    const double w = static_cast<double>(count) / total;
    odds.weight.push_back(w), odds.weight_error.push_back(std::sqrt(w * (1 - w) / total));
  }
}

}  // namespace

std::vector<double> ModeOdds::sample_weights(const std::vector<int64_t>& label) const {
  const auto counts = counts_of(label);
  std::vector<double> weights;
  for (const auto m : label) weights.push_back(weight.at(m) / static_cast<double>(counts[m]));
  return weights;
}

ModeOdds mode_odds(const ScoreField& score, const Tensor& samples, const std::vector<int64_t>& label,
                   const OddsOptions& options) {
  if (samples.size(0) != static_cast<int64_t>(label.size()))
    input_error("mode odds: expected a label for each of {} samples, found {}", samples.size(0), label.size());
  const auto counts = counts_of(label);
  const auto x = samples.detach().to(at::kCPU, at::kDouble);
  ModeOdds odds;
  auto modes = describe_modes(score, x, label, options, odds);
  auto together = counts;
  odds.same_as = join_same(modes, together);
  odds.reference = std::max_element(together.begin(), together.end()) - together.begin();
  odds.log_odds.assign(counts.size(), 0);
  for (int64_t m = 0; m < static_cast<int64_t>(counts.size()); ++m) {
    if (m == odds.reference || odds.same_as[m] != m) continue;
    auto pair = pair_odds(score, modes[odds.reference], modes[m], options, odds.evaluations);
    pair.mode = m;
    odds.log_odds[m] = pair.bennett.log_ratio;
    if (odds.doubt.empty()) odds.doubt = pair.doubt;
    odds.pairs.push_back(std::move(pair));
  }
  // What is one mode shares its odds.
  const auto whole = odds.log_odds;
  for (size_t m = 0; m < counts.size(); ++m)
    odds.log_odds[m] = whole[odds.same_as[m]] +
                       std::log(static_cast<double>(counts[m]) / static_cast<double>(together[odds.same_as[m]]));
  if (odds.pairs.empty()) odds.doubt = "the climbs from all modes end at one summit: they are parts of one mode";
  const bool all_summits = std::all_of(modes.begin(), modes.end(), [](const auto& m) { return m.summit.defined(); });
  // Halves of one mode would each be given all of its weight.
  if (counts.size() > 2 && !all_summits && odds.doubt.empty())
    odds.doubt = "a summit was not found, so that parts of one mode could pass for modes";
  odds.trusted = odds.doubt.empty();
  weigh_by_counts(odds, counts, static_cast<double>(label.size()));
  if (odds.trusted) weigh_by_odds(odds);
  return odds;
}

}  // namespace penumbra::theory
