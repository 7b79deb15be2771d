#include "app/calibration/files.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/defaults.h"
#include "app/json.h"
#include "io/file.h"

namespace penumbra::app::calibration {
namespace {

using nlohmann::json;

json of_coverage(const diagnostics::CoverageCurve& c) {
  return {{"nominal", c.nominal}, {"measured", c.measured}, {"low", c.low}, {"high", c.high}};
}

json of_statistics(const Findings& findings) {
  auto list = json::array();
  for (size_t i = 0; i < findings.names.size(); ++i) {
    const auto& s = findings.calibration.statistics[i];
    list.push_back({{"name", findings.names[i]},
                    {"p", s.p},
                    {"histogram", s.histogram},
                    {"coverage_90", s.coverage_90},
                    {"bias", number(s.bias)},
                    {"spread", number(s.spread)},
                    {"ratio", number(s.ratio)}});
  }
  return list;
}

json describe_findings(const Calibrated& calibrated, const Findings& findings) {
  const auto& c = findings.calibration;
  const auto& v = findings.verdict;
  const auto& problem = calibrated.problem;
  return {
      {"program", {{"name", "penumbra"}, {"version", PENUMBRA_VERSION}, {"libtorch", TORCH_VERSION}}},
      {"prior", problem.prior_kind},
      {"likelihood", problem.likelihood_kind},
      {"sampler",
       {{"kind", problem.sampler_kind}, {"steps", problem.plan.steps}, {"derived", describe_derived(problem.derived)}}},
      {"seed", problem.seed},
      {"device", problem.placement.device.str()},
      {"seconds", findings.all.seconds},
      {"simulations", c.simulations},
      {"draws", calibrated.subject.draws()},
      {"verdict", {{"calibrated", v.calibrated}, {"word", v.word}, {"text", v.text}, {"criterion", v.criterion}}},
      {"uneven_statistics", v.uneven},
      {"uneven_allowed", c.allowed_uneven},
      {"coverage_90", c.coverage_90},
      {"coverage_90_error", c.coverage_90_error},
      {"calibration_ratio", number(c.ratio)},
      {"calibration_ratio_error", number(c.ratio_error)},
      {"tarp_p", c.tarp_p},
      {"interval_coverage", of_coverage(c.intervals)},
      {"tarp_coverage", of_coverage(c.tarp)},
      {"statistics", of_statistics(findings)}};
}

std::string ranks_csv(const Calibrated& calibrated, const Findings& findings) {
  std::string text = "simulation,statistic,rank,draws,place,truth,mean,sd\n";
  for (const auto& [simulation, standing, tarp] : findings.all.simulations) {
    const auto columns = at::stack({standing.rank, standing.place, standing.truth, standing.mean, standing.sd}, 1);
    const auto* row = columns.data_ptr<double>();
    for (const auto& name : findings.names) {
      text += fmt::format("{},{},{:.0f},{},{:.6g},{:.9g},{:.9g},{:.9g}\n", simulation, name, row[0],
                          calibrated.subject.draws(), row[1], row[2], row[3], row[4]);
      row += 5;
    }
  }
  return text;
}

}  // namespace

void write_findings(const std::filesystem::path& folder, const Calibrated& calibrated, const Findings& findings) {
  io::write_file(folder / "ranks.csv", ranks_csv(calibrated, findings));
  io::write_file(folder / "report.html", page(calibrated, findings));
  // Last: where this is, the others are.
  io::write_file(folder / "calibration.json", describe_findings(calibrated, findings).dump(2) + "\n");
}

}  // namespace penumbra::app::calibration
