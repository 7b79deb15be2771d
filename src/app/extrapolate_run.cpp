#include "app/extrapolate_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/finished_run.h"
#include "app/json.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "report/run_report.h"
#include "theory/extrapolation.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json read_summary(const fs::path& run) {
  auto summary = summary_of_run(run);
  if (summary.value("outcome", json()) != json("finished"))
    input_error("{}: expected a run that finished, found {}", (run / "summary.json").string(),
                summary.value("outcome", json()).dump());
  return summary;
}

/// By their numbers, not by the odds of modes: those are estimated anew in either run.
theory::Moments read_moments(const fs::path& run) {
  const auto folder = fs::exists(run / "unweighted") ? run / "unweighted" : run;
  const auto read = [&](const char* name) { return io::read_npy(folder / name).to(at::kDouble); };
  return {read("mean.npy"), read("sd.npy")};
}

/// The error of the extrapolated mean in SDs, from those of the two runs; nothing where one of them has none.
std::optional<double> mean_error(const json& full, const json& half) {
  const json::json_pointer place("/diagnostics/monte_carlo_error/mean_over_sd");
  const auto error = [&](const json& summary) {
    return summary.contains(place) && summary[place].is_number() ? summary[place].get<double>() : NAN;
  };
  const double combined = std::sqrt(4 * std::pow(error(half), 2) + std::pow(error(full), 2));
  return std::isfinite(combined) ? std::optional(combined) : std::nullopt;
}

/// Over the pixels that move.
struct Change {
  double mean = 0;          ///< in SDs, the median
  double largest_mean = 0;  ///< in SDs
  double sd = 1;            ///< as a factor, the median
};
Change change(const theory::Moments& before, const theory::Moments& after) {
  const auto moving = before.sd > 0;
  if (!moving.any().item<bool>()) return {};
  const auto mean = ((after.mean - before.mean).abs() / before.sd).masked_select(moving);
  const auto sd = (after.sd / before.sd).masked_select(moving);
  return {mean.median().item<double>(), mean.max().item<double>(), sd.median().item<double>()};
}

json verdict_on(const json& about) {
  const auto text = fmt::format(
      "extrapolated to step size 0 the SD is {:.3g} times the run's and the mean moves by {:.2g} SD (medians over the "
      "pixels)",
      about["sd_factor"].get<double>(), about["mean_change_in_sd"].get<double>());
  const bool drowned = about["mean_error_in_sd"].is_number() && about["mean_change_in_sd"] <= about["mean_error_in_sd"];
  return {{"level", "note"},
          {"about", "extrapolation"},
          {"text", drowned ? text + "; the mean moves by no more than its Monte Carlo error" : text}};
}

/// Puts the section and its verdict in the place of earlier ones.
void update(json& summary, const json& about) {
  summary["extrapolation"] = about;
  auto verdicts = json::array();
  if (summary.contains("verdicts") && summary["verdicts"].is_array())
    for (const auto& verdict : summary["verdicts"])
      if (!verdict.is_object() || verdict.value("about", json()) != json("extrapolation")) verdicts.push_back(verdict);
  verdicts.push_back(verdict_on(about));
  summary["verdicts"] = verdicts;
}

}  // namespace

fs::path half_step_folder(const fs::path& run) { return run / "half-step"; }

std::vector<std::string> halving_assignments(Settings settings, const std::string& name) {
  auto sampler = settings.section("sampler");
  const auto kind = sampler.text("kind");
  const std::vector<std::string> known{"apmc-pnp", "apmc-red", "pmc-pnp", "pmc-red", "pnp-ula"};
  if (std::find(known.begin(), known.end(), kind) == known.end())
    input_error("{}: sampler.kind: expected a Langevin chain with a step-size bias (apmc-*, pmc-*, pnp-ula), found {}",
                name, kind);
  std::vector<std::string> list;
  const auto scale = [&](Settings& section, const std::string& prefix, const std::string& key, double factor) {
    if (section.has(key)) list.push_back(fmt::format("{}{}={:.17g}", prefix, key, factor * section.number(key)));
  };
  scale(sampler, "sampler.", "step_size", 0.5);
  scale(sampler, "sampler.", "pull", 0.5);
  scale(sampler, "sampler.", "steps", 2);
  if (sampler.is_section("schedule")) {
    auto schedule = sampler.section("schedule");
    scale(schedule, "sampler.schedule.", "anneal_steps", 2);
    if (schedule.has("xi"))
      list.push_back(fmt::format("sampler.schedule.xi={:.17g}", std::sqrt(schedule.number("xi"))));
  }
  auto output = settings.section("output");
  for (const auto* key : {"record_from", "record_every", "trace_every", "checkpoint_every_steps"})
    scale(output, "output.", key, 2);
  list.push_back(fmt::format("seed={}", settings.integer("seed", 0) + 1));
  return list;
}

json write_extrapolation(const fs::path& run) {
  const auto half = half_step_folder(run);
  auto summary = read_summary(run);
  const auto half_summary = read_summary(half);
  const auto full_moments = read_moments(run), half_moments = read_moments(half);
  if (full_moments.mean.sizes() != half_moments.mean.sizes())
    input_error("{}: expected images of {} as in {}, found {}", half.string(), describe(full_moments.mean.sizes()),
                run.string(), describe(half_moments.mean.sizes()));
  const auto found = theory::extrapolate(full_moments, half_moments);
  fs::create_directories(run / "extrapolated");
  io::write_npy(run / "extrapolated" / "mean.npy", found.moments.mean.to(at::kFloat));
  io::write_npy(run / "extrapolated" / "sd.npy", found.moments.sd.to(at::kFloat));
  const auto moved = change(full_moments, found.moments);
  const auto error = mean_error(summary, half_summary);
  const json about{{"step_sizes", {summary["sampler"]["step_size"], half_summary["sampler"]["step_size"]}},
                   {"mean_change_in_sd", moved.mean},
                   {"largest_mean_change_in_sd", moved.largest_mean},
                   {"mean_error_in_sd", error ? json(*error) : json(nullptr)},
                   {"sd_factor", moved.sd},
                   {"unusable_pixels", found.unusable.sum().item<int64_t>()},
                   {"unusable_share", found.unusable.to(at::kDouble).mean().item<double>()}};
  update(summary, about);
  io::write_file(run / "summary.json", json_text(summary, 2) + "\n");
  report::write_run_report(run);
  return about;
}

}  // namespace penumbra::app
