#include "app/experiments/weights/alternatives.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/experiments/validation_2d/evaluation.h"
#include "core/named.h"
#include "samplers/sampler.h"

namespace penumbra::app::weights {
namespace {

/// A prior that counts what it is asked for.
class CountedScore final : public Score {
 public:
  explicit CountedScore(std::shared_ptr<const Score> score) : Score(score->image_shape()), score_(std::move(score)) {}
  std::optional<Tensor> log_density(const Tensor& x, double sigma) const override {
    count_ += x.size(0);
    return score_->log_density(x, sigma);
  }
  SigmaRange sigma_range() const override { return score_->sigma_range(); }
  int64_t count() const { return count_; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override {
    count_ += x.size(0);
    return score_->score(x, sigma, at);
  }
  std::shared_ptr<const Score> score_;
  mutable int64_t count_ = 0;
};

/// The share of the samples that are nearer to the first component.
double share_of_first(const Tensor& x, const GaussianMixture& exact) {
  const auto distance = [&](size_t j) { return (flat(x) - exact.components()[j].mean).square().sum(1); };
  return distance(0).lt(distance(1)).to(at::kDouble).mean().item<double>();
}

double divergence(const Found& found) {
  return validation_2d::weight_divergence({found.weight, 1 - found.weight}, {found.exact, 1 - found.exact});
}

}  // namespace

Found try_alternative(const Alternative& alternative, const std::string& name, const Posterior& posterior,
                      const GaussianMixture& exact, uint64_t seed) {
  const c10::NoGradGuard no_gradients;
  const auto begin = std::chrono::steady_clock::now();
  const auto prior = std::make_shared<CountedScore>(posterior.prior);
  auto settings = Settings::from_text(alternative.settings, alternative.name);
  const auto sampler = find_named(sampler_entries(), alternative.kind)
                           ->make(settings, {{posterior.likelihood, prior}, seed, alternative.steps});
  settings.finish();
  auto shape = posterior.image_shape();
  shape.insert(shape.begin(), alternative.chains);
  ChainState state{sampler->start_sd().value() *
                   normal({seed, 0, 0}, Stream::start, at::empty(shape, exact.components()[0].mean.options()))};
  while (state.k < alternative.steps) sampler->step(state);
  Found found{.name = name};
  found.exact = 1 / (1 + std::exp(-log_odds(exact)));
  found.weight = share_of_first(state.x, exact);
  found.per_chain = static_cast<double>(prior->count()) / static_cast<double>(alternative.chains);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

std::vector<Alternative> plane_alternatives(bool quick) {
  const int64_t chains = quick ? 50 : 100;
  return {{"SMC", "smc", "{sigma_0: 60, sigma_min: 0, step_size: 1}", 500, 330},
          {"SMC, score alone", "smc",
           "{sigma_0: 60, sigma_min: 0, step_size: 1, ratios: score, nodes: 64, metropolis: false}", 200, 330},
          {"replica exchange", "replica", "{sigma_0: 60, sigma_min: 0, step_size: 1, levels: 10}", chains, 400},
          {"replica exchange, score alone", "replica",
           "{sigma_0: 60, sigma_min: 0, step_size: 1, levels: 10, ratios: score, nodes: 16, metropolis: false}", chains,
           200}};
}

std::vector<Alternative> image_alternatives(double sigma_min, double gamma, bool quick) {
  const auto path = fmt::format("sigma_0: 100, sigma_min: {:.10g}, step_size: {:g}", sigma_min, gamma);
  return {{"SMC", "smc", fmt::format("{{{}}}", path), quick ? 100 : 200, quick ? 400 : 1000},
          {"replica exchange", "replica", fmt::format("{{{}, levels: {}}}", path, quick ? 12 : 24), quick ? 10 : 20,
           quick ? 200 : 400}};
}

double mean_divergence(const MethodSummary& summary) {
  double sum = 0;
  for (const auto& found : summary.found) sum += divergence(found) / static_cast<double>(summary.found.size());
  return sum;
}

TextTable comparison(const std::vector<MethodSummary>& methods) {
  TextTable table{{"method", "KL of the weights", "largest miss", "evaluations a chain", "seconds a posterior"}, {}};
  for (const auto& summary : methods) {
    double miss = 0, per_chain = 0, seconds = 0;
    const auto n = static_cast<double>(summary.found.size());
    for (const auto& found : summary.found) {
      miss = std::max(miss, std::abs(found.weight - found.exact));
      per_chain += found.per_chain / n, seconds += found.seconds / n;
    }
    table.rows.push_back({summary.method, fmt::format("{:.2g}", mean_divergence(summary)), fmt::format("{:.4f}", miss),
                          fmt::format("{:.0f}", per_chain), fmt::format("{:.2f}", seconds)});
  }
  return table;
}

TextTable odds_comparison(const std::vector<MethodSummary>& methods) {
  TextTable table{{"posterior", "method", "exact", "found", "evaluations a chain", "seconds"}, {}};
  for (const auto& summary : methods)
    for (const auto& found : summary.found)
      table.rows.push_back({found.name, summary.method,
                            fmt::format("{:+.2f}", std::log(found.exact / (1 - found.exact))),
                            fmt::format("{:+.2f}", std::log(found.weight / (1 - found.weight))),
                            fmt::format("{:.0f}", found.per_chain), fmt::format("{:.1f}", found.seconds)});
  return table;
}

}  // namespace penumbra::app::weights
