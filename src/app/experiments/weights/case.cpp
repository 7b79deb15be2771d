#include "app/experiments/weights/case.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "diagnostics/modes.h"

namespace penumbra::app::weights {
namespace {

double logistic(double u) { return 1 / (1 + std::exp(-u)); }

/// Whether the mode's mean is nearer to the first component than to the second.
bool is_first(const Tensor& mean, const GaussianMixture& exact) {
  const auto distance = [&](size_t j) { return (mean.flatten() - exact.components()[j].mean).norm().item<double>(); };
  return distance(0) < distance(1);
}

}  // namespace

double Case::exact_weight() const { return logistic(exact); }

double Case::weight() const { return known() && odds.trusted ? logistic(log_odds) : share; }

double log_odds(const GaussianMixture& mixture) {
  return std::log(mixture.components()[0].weight / mixture.components()[1].weight);
}

Case weigh(const std::string& name, const theory::ScoreField& score, const Tensor& samples,
           const GaussianMixture& exact, uint64_t seed) {
  const auto begin = std::chrono::steady_clock::now();
  Case result;
  result.name = name;
  result.exact = log_odds(exact);
  const auto found = diagnostics::find_modes(samples, {}, {.seed = seed});
  result.modes = static_cast<int64_t>(found.modes.size());
  std::vector<bool> first;
  for (const auto& mode : found.modes) first.push_back(is_first(mode.mean, exact));
  for (const auto m : found.label) result.share += first[m] ? 1 / static_cast<double>(found.label.size()) : 0;
  result.log_odds = result.error = NAN;
  if (result.modes < 2) return result;
  result.odds = theory::mode_odds(score, samples, found.label, {.seed = seed});
  if (!result.known()) return result;
  double sides[2] = {0, 0};
  for (size_t m = 0; m < first.size(); ++m) sides[first[m] ? 0 : 1] += std::exp(result.odds.log_odds[m]);
  result.log_odds = std::log(sides[0] / sides[1]);
  result.error = result.odds.pairs[0].bennett.error();
  result.odds_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

TextTable odds_table(const std::vector<Case>& cases) {
  TextTable table{{"posterior", "exact at sigma_min", "exact at 0", "counts", "odds", "error bar", "miss", "work SD",
                   "gap", "effective", "quadrature", "closed loops", "map", "evaluations", "trusted"},
                  {}};
  for (const auto& c : cases) {
    const double counts = std::log(c.share / (1 - c.share));
    std::vector<std::string> row{c.name, fmt::format("{:+.2f}", c.exact), fmt::format("{:+.2f}", c.exact_unsmoothed),
                                 fmt::format("{:+.2f}", counts)};
    if (!c.known()) {
      row.resize(table.header.size());
      row.back() = fmt::format("{} modes found", c.modes);
      table.rows.push_back(row);
      continue;
    }
    const auto& pair = c.odds.pairs[0];
    const auto& b = pair.bennett;
    for (const auto& cell :
         {fmt::format("{:+.2f}", c.log_odds), fmt::format("{:.2f}", c.error),
          fmt::format("{:+.3f}", c.log_odds - c.exact), fmt::format("{:.2f}, {:.2f}", b.forward_sd, b.backward_sd),
          fmt::format("{:.2f}", b.gap), fmt::format("{:.0f} of {}", b.effective, pair.works / 2),
          fmt::format("{:.1e}", pair.quadrature), fmt::format("{:.1e}", pair.loop_rms), theory::name(pair.map),
          fmt::format("{}", c.odds.evaluations), std::string(c.odds.trusted ? "yes" : "no: " + c.odds.doubt)})
      row.push_back(cell);
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace penumbra::app::weights
