/// penumbra experiment statistical: Section V.B with the analytic score, against the exact posterior.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/statistical/figures.h"
#include "io/file.h"

namespace penumbra::app {
namespace {

using namespace statistical;

Parameters parameters(bool quick) {
  Parameters parameters;
  if (quick) parameters.side = 16, parameters.chains = 200;
  return parameters;
}

nlohmann::json settings(const Setting& setting) {
  const auto& p = setting.parameters;
  return {{"images", setting.images.source},
          {"side", p.side},
          {"rows", setting.A.size(0)},
          {"chains", p.chains},
          {"steps", p.steps},
          {"beta", p.beta},
          {"gamma", p.gamma},
          {"sigma_0", p.sigma_0},
          {"sigma_min", p.sigma_min},
          {"xi", p.xi},
          {"alpha_0", p.alpha_0},
          {"precision", "float32"},
          {"separation", setting.separation},
          {"log_odds", setting.log_odds},
          {"log_odds_rms", setting.log_odds_sd},
          {"candidates", setting.images.candidates.size(0)}};
}

void write(const Results& results, const ExperimentOptions& options) {
  const auto& out = options.out;
  const auto weights = weights_table(results.setting, results.comparisons);
  const auto modes = modes_table(results.comparisons);
  io::write_file(out / "table.md", "# Weights of the modes\n\n" + markdown(weights) + "\n# Inside the modes\n\n" +
                                       markdown(modes) + "\n# All samples\n\n" +
                                       markdown(overall_table(results.comparisons)));
  io::write_file(out / "table.csv", csv(modes));
  io::write_file(out / "weights.csv", csv(weights));
  for (const auto& c : results.comparisons) {
    io::write_file(out / (c.algorithm.name + "-shares.svg"), report::svg(share_chart(results, c), true));
    io::write_file(out / (c.algorithm.name + "-profile.svg"), report::svg(profile_chart(results, c), true));
  }
  io::write_file(out / "report.html", page(results, options));
  write_record("statistical", options, settings(results.setting), results.checks, results.seconds);
}

int run(const ExperimentOptions& options) {
  claim_folder("statistical", options, 8 << 20);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const auto p = parameters(options.quick);
  Results results;
  results.setting = make_setting(
      p, options.images.empty() ? surrogate_images(p.side, options.seed) : folder_images(options.images, p.side),
      options.seed);
  results.laws = make_laws(results.setting);
  fmt::print("{}\nmodes {:.0f} SDs apart, log-odds {:+.2f} (rms {:.0f} over {} candidates, {} within 1.5)\n",
             results.setting.images.source, results.setting.separation, results.setting.log_odds,
             results.setting.log_odds_sd, results.setting.images.candidates.size(0), results.setting.undecided);
  fmt::print("exact posterior and laws: {:.0f} s\n", seconds());
  for (const auto& algorithm : algorithms()) {
    std::fflush(stdout);
    auto samples = sample(results.setting, algorithm, options.seed);
    fmt::print("{}: {:.0f} s\n", algorithm.name, samples.seconds);
    results.comparisons.push_back(compare(results.setting, results.laws, algorithm, std::move(samples)));
  }
  results.checks = make_checks(results.setting, results.comparisons);
  results.seconds = seconds();
  write(results, options);
  fmt::print("\n{}\n{}\n{}\n", aligned(weights_table(results.setting, results.comparisons)),
             aligned(modes_table(results.comparisons)), aligned(overall_table(results.comparisons)));
  print_checks(results.checks);
  fmt::print("{:.0f} s; {}\n", results.seconds, (options.out / "report.html").string());
  return all_passed(results.checks) ? success : machine_failure;
}

}  // namespace

extern const ExperimentEntry statistical_entry{
    "statistical", "image posterior of Section V.B with the analytic score, against the exact one", run};

}  // namespace penumbra::app
