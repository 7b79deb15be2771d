#include "app/mode_weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/json.h"
#include "app/progress.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

/// Pixels whose score is taken together: a large network keeps hundreds of numbers for each.
constexpr int64_t pixels_at_once = int64_t{1} << 20;

std::vector<double> shares_of(const diagnostics::Modes& found) {
  std::vector<double> shares;
  for (const auto& mode : found.modes)
    shares.push_back(static_cast<double>(mode.count) / static_cast<double>(found.label.size()));
  return shares;
}

/// The modes come in another order once they are weighed; what was said of number m is said of number to[m].
void renumber(theory::ModeOdds& odds, const std::vector<int64_t>& to) {
  const auto old = odds;
  odds.reference = to[old.reference];
  for (size_t m = 0; m < to.size(); ++m) {
    odds.log_odds[to[m]] = old.log_odds[m];
    odds.same_as[to[m]] = to[old.same_as[m]];
    odds.weight[to[m]] = old.weight[m], odds.weight_error[to[m]] = old.weight_error[m];
  }
  for (auto& pair : odds.pairs) pair.mode = to[pair.mode];
}

json describe_pair(const theory::PairOdds& pair) {
  const auto& b = pair.bennett;
  return {{"mode", pair.mode + 1},
          {"log_odds", number(b.log_ratio)},
          {"error", number(b.error())},
          {"asymptotic_error", number(b.asymptotic_error)},
          {"bootstrap_error", number(b.bootstrap_error)},
          {"gap", number(b.gap)},
          {"work_sd", {number(b.forward_sd), number(b.backward_sd)}},
          {"effective_samples", number(b.effective)},
          {"works", pair.works},
          {"quadrature_error", number(pair.quadrature)},
          {"closed_loop_rms", number(pair.loop_rms)},
          {"map", theory::name(pair.map)},
          {"trusted", pair.doubt.empty()},
          {"doubt", pair.doubt}};
}

}  // namespace

OddsSource odds_source(const Posterior& posterior, const Sampler& sampler, int64_t steps, const Placement& placement) {
  const double sigma = sampler.annealing(steps - 1).sigma;
  if (!posterior.prior->accepts(sigma))
    return {.sigma = sigma, .missing = fmt::format("the prior's score is not known at the last sigma, {:g}", sigma)};
  return {.score =
              [posterior, sigma, placement](const Tensor& x) {
                const c10::NoGradGuard no_gradients;
                return posterior.score(place(x, placement), sigma);
              },
          .sigma = sigma};
}

ModeWeights weigh_modes(const diagnostics::Modes& found, const std::vector<diagnostics::TermFit>& fits,
                        const ModesPlan& plan, const OddsSource& source, uint64_t seed) {
  ModeWeights result;
  result.modes = found;
  result.shares = shares_of(found);
  result.sigma = source.sigma;
  if (found.modes.size() < 2 || !plan.odds) return result;
  if (!source.score) {
    result.why = source.missing.empty() ? "the posterior's score is not at hand" : source.missing;
    return result;
  }
  theory::OddsOptions options{.samples = plan.odds_samples, .seed = seed};
  const auto& images = found.alignment.images;
  // What closure amplitudes cannot tell apart.
  options.turn = [](const Tensor& x) { return x.flip({-2, -1}); };
  options.work.batch = std::clamp<int64_t>(pixels_at_once / std::max<int64_t>(1, images[0].numel()), 1, 256);
  Progress progress;
  int64_t taken = 0;
  const auto counted = [&](const Tensor& x) {
    taken += x.size(0);
    progress.count(taken, fmt::format("odds of {} modes, scores taken", found.modes.size()));
    return source.score(x);
  };
  result.odds = theory::mode_odds(counted, images, found.label, options);
  result.by_odds = result.odds.trusted, result.doubted = !result.odds.trusted;
  result.why = result.odds.doubt;
  if (!result.by_odds) return result;
  result.modes = diagnostics::reweigh(found, fits, result.odds.sample_weights(found.label));
  std::vector<int64_t> to(found.modes.size());
  for (size_t i = 0; i < found.label.size(); ++i) to[found.label[i]] = result.modes.label[i];
  renumber(result.odds, to);
  result.shares = shares_of(result.modes);
  for (size_t m = 0; m < to.size(); ++m) result.modes.modes[m].weight_error = result.odds.weight_error[m];
  return result;
}

json describe_weights(const ModeWeights& weights) {
  json about{{"by", weights.by_odds ? "odds" : "counts"}, {"why", weights.why}, {"shares", weights.shares}};
  if (weights.odds.same_as.empty()) return about;
  about["sigma"] = weights.sigma;
  about["reference"] = weights.odds.reference + 1;
  about["score_evaluations"] = weights.odds.evaluations;
  about["same_summit_as"] = json::array();
  for (const auto m : weights.odds.same_as) about["same_summit_as"].push_back(m + 1);
  about["pairs"] = json::array();
  for (const auto& pair : weights.odds.pairs) about["pairs"].push_back(describe_pair(pair));
  return about;
}

}  // namespace penumbra::app
