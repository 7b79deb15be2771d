#include "diagnostics/assess.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "diagnostics/blocks.h"
#include "diagnostics/convergence.h"
#include "diagnostics/monte_carlo.h"
#include "diagnostics/quantiles.h"

namespace penumbra::diagnostics {
namespace {

constexpr int64_t long_chain = 100, enough_to_group = 16, enough_to_split = 4;

/// Selects the pixels that move and are finite from a map.
class Moving {
 public:
  explicit Moving(const Tensor& draws)
      : finite_(by_blocks(draws, is_finite).flatten()), constant_(by_blocks(draws, is_constant).flatten()) {}
  int64_t pixels() const { return finite_.numel(); }
  int64_t broken() const { return pixels() - finite_.sum().item<int64_t>(); }
  int64_t constant() const { return constant_.sum().item<int64_t>(); }
  Tensor of(const Tensor& map) const {
    return map.flatten().masked_select(finite_.logical_and(constant_.logical_not()));
  }

 private:
  Tensor finite_, constant_;
};

double value_at(const Tensor& values, double p) {
  return values.numel() == 0 ? Convergence::none : quantiles(values.reshape({-1, 1, 1}), {p}).item<double>();
}

double smallest(const Tensor& values) { return value_at(values, 0); }
double middle(const Tensor& values) { return value_at(values, 0.5); }

void assess_rhat(Convergence& c, const Tensor& draws, const Moving& moving) {
  const bool can_split = c.records >= enough_to_split, can_group = c.chains >= enough_to_group;
  Tensor split, nested;
  if (can_split) c.split_rhat_p95 = value_at(split = moving.of(split_rhat(draws)), 0.95);
  const auto groups = balanced_superchains(c.chains);
  if (can_group) c.nested_rhat_p95 = value_at(nested = moving.of(nested_rhat(draws, groups)), 0.95);
  if (!can_split && !can_group) return;

  const bool use_split = can_split && (c.records >= long_chain || !can_group);
  const auto& rhat = use_split ? split : nested;
  c.rhat_kind = use_split ? "split" : "nested";
  c.rhat_median = middle(rhat);
  c.rhat_p95 = value_at(rhat, 0.95);
  c.rhat_max = value_at(rhat, 1);
  c.rhat_threshold = use_split ? 1.05 : nested_rhat_quantile(groups, c.chains / groups, 0.99);
}

}  // namespace

Convergence assess(const Tensor& draws) {
  const Moving moving(draws);
  Convergence c;
  c.chains = draws.size(1);
  c.records = draws.size(0);
  c.pixels = moving.pixels();
  c.constant_pixels = moving.constant();
  c.broken_pixels = moving.broken();
  assess_rhat(c, draws, moving);
  if (c.records > 1 && c.chains > 1) c.drift = ensemble_drift(draws);
  const auto size = moving.of(ess(draws));
  c.ess_median = middle(size);
  c.ess_min = smallest(size);
  if (c.chains * c.records < 2) return c;
  c.mcse_mean_relative = middle(mcse_mean(at::ones_like(size), size));
  c.mcse_sd_relative = middle(mcse_sd_relative(moving.of(kurtosis(draws)), size));
  return c;
}

nlohmann::json to_json(const Convergence& c) {
  nlohmann::json json{
      {"chains", c.chains},
      {"records", c.records},
      {"pixels", {{"all", c.pixels}, {"constant", c.constant_pixels}, {"broken", c.broken_pixels}}},
      {"rhat",
       {{"kind", c.rhat_kind},
        {"median", c.rhat_median},
        {"p95", c.rhat_p95},
        {"max", c.rhat_max},
        {"threshold_p95", c.rhat_threshold},
        {"split_p95", c.split_rhat_p95.value_or(c.none)},
        {"nested_p95", c.nested_rhat_p95.value_or(c.none)}}},
      {"drift", nullptr},
      {"ess", {{"median", c.ess_median}, {"min", c.ess_min}}},
      {"monte_carlo_error", {{"mean_over_sd", c.mcse_mean_relative}, {"sd_relative", c.mcse_sd_relative}}}};
  if (c.drift) json["drift"] = {{"size_in_sd", c.drift->size}, {"p", c.drift->p}};
  return json;
}

}  // namespace penumbra::diagnostics
