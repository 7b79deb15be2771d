#include "app/stein_check.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace penumbra::app {
namespace {

using nlohmann::json;

/// A run in twenty would be doubted at the usual 5 %.
constexpr double level = 0.01;

Tensor scores_of(const Tensor& x, const OddsSource& source, int64_t batch) {
  std::vector<Tensor> parts;
  for (const auto& part : x.split(batch > 0 ? batch : x.size(0)))
    parts.push_back(source.score(part).to(at::kCPU, at::kDouble));
  return at::cat(parts);
}

std::string limits_of(const SteinCheck& check) {
  const auto factor = check.visible_sd_factor();
  const auto sd = factor ? fmt::format("an SD more than {:.2g} times too large", *factor) : "no wrong SD";
  return fmt::format(
      "{} samples of {} unknowns show a mean that is wrong in stiff directions, {}, and hardly wrong weights of modes",
      check.samples, check.unknowns, sd);
}

}  // namespace

/// 17 f^4 sqrt(n) / (f^2 - 1)^2 samples are needed (stein.h), so f^2 / (f^2 - 1) may be sqrt(N / (17 sqrt(n))) at most.
std::optional<double> SteinCheck::visible_sd_factor() const {
  const double most = std::sqrt(static_cast<double>(samples) / (17 * std::sqrt(static_cast<double>(unknowns))));
  if (!(most > 1)) return std::nullopt;
  return std::sqrt(most / (most - 1));
}

SteinCheck check_stein(const Tensor& x, const OddsSource& source, const SteinPlan& plan) {
  SteinCheck check{.samples = std::min(x.size(0), most_for_stein), .unknowns = x[0].numel(), .sigma = source.sigma};
  if (x.size(0) < fewest_for_stein) {
    check.why = fmt::format("{} {} too few to judge by; {} are needed", x.size(0),
                            x.size(0) == 1 ? "chain is" : "chains are", fewest_for_stein);
    return check;
  }
  if (!source.score) {
    check.why = source.missing;
    return check;
  }
  const auto some = x.narrow(0, 0, check.samples);
  const auto samples = flat(some.detach().to(at::kCPU, at::kDouble)),
             scores = flat(scores_of(some, source, plan.batch));
  if (!samples.isfinite().all().item<bool>() || !scores.isfinite().all().item<bool>())
    check.why = "the posterior's score is not finite at every sample";
  else if ((at::pdist(samples) == 0).to(at::kDouble).mean().item<double>() >= 0.5)
    check.why = "most samples are the same";
  else
    check.found = theory::kernel_stein(samples, scores, {.level = level, .seed = plan.seed});
  return check;
}

json to_json(const SteinCheck& check) {
  json about{{"judged", check.found.has_value()}, {"samples", check.samples}, {"unknowns", check.unknowns}};
  if (!check.found) {
    about["why_not"] = check.why;
    return about;
  }
  const auto& found = *check.found;
  const auto factor = check.visible_sd_factor();
  about.update({{"sigma", check.sigma},
                {"u_statistic", found.u_statistic},
                {"v_statistic", found.v_statistic},
                {"threshold", found.threshold},
                {"level", level},
                {"p", found.p_value},
                {"length", found.length},
                {"rejected", found.rejected()},
                {"visible_sd_factor", factor ? json(*factor) : json(nullptr)}});
  return about;
}

diagnostics::Verdict verdict_on(const SteinCheck& check, double weight) {
  if (!check.found) return {"note", "stein", "kernel Stein discrepancy: " + check.why};
  const auto& found = *check.found;
  const auto number = fmt::format("kernel Stein discrepancy {:.2g}, of right samples below {:.2g}, p = {:.2g}",
                                  found.u_statistic, found.threshold, found.p_value);
  // A test that cannot see much has nothing good to say.
  if (!found.rejected())
    return {check.visible_sd_factor() ? "good" : "note", "stein",
            fmt::format("nothing speaks against the samples being the posterior's ({}); {}", number, limits_of(check))};
  const auto reason = weight == 1
                          ? std::string("they have not settled, the step is too long or the method is not exact")
                          : fmt::format("the sampler gives the prior the weight {:g}", weight);
  return {"warning", "stein",
          fmt::format("the samples are not those of the posterior with the prior smoothed by sigma = {:.3g} ({}): {}",
                      check.sigma, number, reason)};
}

}  // namespace penumbra::app
