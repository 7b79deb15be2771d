#include "app/experiments/interferometry/orientation_study.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "app/run_modes.h"
#include "diagnostics/alignment.h"
#include "io/file.h"

namespace penumbra::app::interferometry {
namespace {

constexpr double least_chi2 = 0.7, most_chi2 = 1.3;
constexpr double t3_share = 0.05;

bool fits(const Tensor& chi2, size_t i) {
  const double value = chi2[static_cast<int64_t>(i)].item<double>();
  return value >= least_chi2 && value <= most_chi2;
}

std::vector<double> numbers(const Tensor& x) {
  const auto exact = x.to(at::kDouble).contiguous();
  return {exact.data_ptr<double>(), exact.data_ptr<double>() + exact.numel()};
}

std::string modes_in_words(const OrientationStudy& study) {
  if (study.diverged) return "";
  if (study.modes.at("too_few_to_tell").get<bool>()) return "too few to tell";
  std::string text;
  for (const auto& mode : study.modes.at("modes"))
    text += fmt::format("{}{:.2f} +- {:.2f}", text.empty() ? "" : ", ", mode.at("weight").get<double>(),
                        mode.at("weight_error").get<double>());
  return text;
}

std::string median_of(const Tensor& chi2) { return fmt::format("{:.2f}", chi2.median().item<double>()); }

}  // namespace

OrientationShares OrientationStudy::well_fitting() const {
  std::vector<double> chosen;
  for (size_t i = 0; i < leads.size(); ++i)
    if (fits(chi2_phase, i) && fits(chi2_amplitude, i)) chosen.push_back(leads[i]);
  return shares(chosen);
}

void study(OrientationStudy& of, const SkyCase& sky, const std::filesystem::path& folder, uint64_t seed) {
  of.diverged = !of.samples.isfinite().all().item<bool>();
  if (of.diverged) return;
  of.leads = orientations(of.samples, sky.truth);
  const auto placed = place(of.samples, sky.placement);
  for (const auto& misfit : sky.likelihood->misfit(placed)) {
    if (misfit.term == "closure_phase") of.chi2_phase = misfit.chi2.to(at::kCPU, at::kDouble);
    if (misfit.term == "log_closure_amplitude") of.chi2_amplitude = misfit.chi2.to(at::kCPU, at::kDouble);
  }
  ModesPlan plan;
  plan.options.align = diagnostics::Align::shift;
  plan.ring = diagnostics::RingOptions{.fov = sky.fov};
  write_modes(folder, plan, *sky.likelihood, placed, seed);
  of.modes = nlohmann::json::parse(io::read_file(folder / "modes.json"));
}

TextTable orientation_table(const std::vector<OrientationStudy>& studies) {
  TextTable table{
      {"method", "samples", "as the truth", "turned", "undecided", "share as the truth", "fit, as the truth",
       "fit, turned", "chi2 phases (median)", "chi2 amplitudes (median)", "modes by themselves", "seconds"},
      {}};
  for (const auto& s : studies) {
    std::vector<std::string> row{s.method, std::to_string(s.samples.size(0))};
    if (s.diverged) {
      row.resize(table.header.size() - 1, "diverged");
    } else {
      const auto all = s.all(), good = s.well_fitting();
      row.insert(row.end(), {std::to_string(all.as_truth), std::to_string(all.turned), std::to_string(all.undecided),
                             std::isfinite(all.share) ? fmt::format("{:.2f} +- {:.2f}", all.share, all.error) : "",
                             std::to_string(good.as_truth), std::to_string(good.turned), median_of(s.chi2_phase),
                             median_of(s.chi2_amplitude), modes_in_words(s)});
    }
    row.push_back(fmt::format("{:.0f}", s.seconds));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Check t3(const OrientationStudy& study) {
  const auto claim =
      fmt::format("T3, {}: at least 5 of 100 samples either way have both chi2 in [0.7, 1.3]", study.method);
  if (study.diverged) return {claim, false, "diverged"};
  const auto good = study.well_fitting();
  const double needed = t3_share * static_cast<double>(study.leads.size());
  return {claim, std::min(good.as_truth, good.turned) >= needed,
          fmt::format("{} as the truth and {} turned, of {}", good.as_truth, good.turned, study.leads.size())};
}

report::Chart map_chart(const OrientationStudy& study) {
  report::Chart chart;
  chart.title = study.method + ": map of the samples";
  chart.square = true;
  if (study.diverged || study.modes.at("map").is_null()) return chart;
  report::Series kinds[]{{.name = "as the truth"}, {.name = "turned"}, {.name = "undecided"}};
  for (auto& series : kinds) series.mark = report::Mark::points;
  const auto& map = study.modes.at("map");
  for (size_t i = 0; i < study.leads.size(); ++i) {
    auto& series = kinds[study.leads[i] >= undecided_below ? 0 : study.leads[i] <= -undecided_below ? 1 : 2];
    series.x.push_back(map.at("x")[i].get<double>());
    series.y.push_back(map.at("y")[i].get<double>());
  }
  for (auto& series : kinds)
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  return chart;
}

report::Chart chi2_chart(const OrientationStudy& study) {
  report::Chart chart;
  chart.title = study.method + ": chi2 of the samples";
  chart.x.label = "chi2";
  chart.y.label = "samples";
  if (study.diverged) return chart;
  const auto bins = static_cast<int>(std::clamp<size_t>(study.leads.size() / 4, 4, 30));
  chart.series = {report::histogram("closure phases", numbers(study.chi2_phase), bins),
                  report::histogram("log closure amplitudes", numbers(study.chi2_amplitude), bins)};
  return chart;
}

Tensor mean_of(const OrientationStudy& study, bool turned) {
  std::vector<Tensor> chosen;
  for (size_t i = 0; i < study.leads.size(); ++i)
    if (turned ? study.leads[i] <= -undecided_below : study.leads[i] >= undecided_below)
      chosen.push_back(study.samples[static_cast<int64_t>(i)]);
  if (chosen.empty()) return {};
  const auto samples = at::stack(chosen);
  return diagnostics::align(samples, samples.size(2) / 4).images.mean(0);
}

}  // namespace penumbra::app::interferometry
