#include "app/data_share.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/generation.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

/// The SD is known to 1 / sqrt(2 x 63), 9 %.
constexpr int64_t draw_count = 64;

std::optional<PriorSd> from_draws(const Problem& problem, std::string& why_not) {
  const c10::NoGradGuard no_gradients;
  const auto& prior = problem.posterior.prior;
  const auto [low, high] = prior->sigma_range();
  Generation how;
  how.count = draw_count;
  how.batch = problem.plan.batch > 0 ? problem.plan.batch : std::min(draw_count, problem.plan.chains);
  how.sigma_max = std::clamp(how.sigma_max, low, high);
  how.sigma_min = std::clamp(how.sigma_min, low, high);
  how.seed = problem.seed;
  const auto drawn = generate_images(prior, how, problem.placement);
  if (drawn.diverged) {
    why_not = "draws of the prior diverged";
    return std::nullopt;
  }
  return PriorSd{drawn.images.to(at::kDouble).std(0, /*unbiased=*/true), fmt::format("{} draws", draw_count)};
}

}  // namespace

std::optional<PriorSd> find_prior_sd(const Problem& problem, std::string& why_not) {
  using Source = PriorSdPlan::Source;
  const auto& plan = problem.prior_sd;
  if (plan.source == Source::none) {
    why_not = "not asked for (output.prior_sd: none)";
    return std::nullopt;
  }
  if (plan.source == Source::file) return PriorSd{plan.sd, plan.name};
  if (auto stored = stored_pixel_sd(*problem.posterior.prior)) return stored;
  if (plan.source == Source::draws) return from_draws(problem, why_not);
  why_not =
      "the prior does not say how far its pixels stray; output.prior_sd: draws finds out from 64 draws, and penumbra "
      "generate --store-sd writes it beside the prior's file for good";
  return std::nullopt;
}

DataShare data_share(const Tensor& posterior_sd, const Tensor& prior_sd, double sigma) {
  const auto before = (prior_sd.square() + sigma * sigma).sqrt();
  const auto raw = 1 - posterior_sd / before;  // NaN or -infinity where the prior's is 0
  const auto known = before > 0;
  DataShare found{at::where(known, raw.clamp(0, 1), at::full_like(raw, NAN))};
  const auto inside = raw.masked_select(known);
  if (inside.numel() == 0) return found;
  found.median = inside.clamp(0, 1).median().item<double>();
  found.wider = inside.lt(0).to(at::kDouble).mean().item<double>();
  return found;
}

json write_data_share(const std::filesystem::path& folder, const Problem& problem, double sigma) {
  std::string why_not;
  if (!problem.entry->random) why_not = "a deterministic iteration has no SD";
  const auto prior = why_not.empty() ? find_prior_sd(problem, why_not) : std::nullopt;
  if (!prior) return {{"known", false}, {"why_not", why_not}};
  // Where the data leave the position free, the SD of the samples as they are is mostly that of their places.
  const auto aligned = folder / "modes" / "aligned-sd.npy";
  const bool free_position = std::filesystem::exists(aligned);
  const auto sd = io::read_npy(free_position ? aligned : folder / "sd.npy").to(at::kDouble);
  const auto found = data_share(sd, prior->sd, sigma);
  io::write_npy(folder / "prior_sd.npy", prior->sd.to(at::kFloat));
  io::write_npy(folder / "data_share.npy", found.share.to(at::kFloat));
  return {{"known", true},          {"prior_sd_from", prior->from},
          {"sigma", sigma},         {"samples", free_position ? "aligned" : "as they are"},
          {"median", found.median}, {"wider_than_prior", found.wider}};
}

}  // namespace penumbra::app
