/// penumbra modes RUN: sorts the samples of a finished run into modes again; writes the report again.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/evaluate_run.h"
#include "app/finished_run.h"
#include "app/json.h"
#include "app/run_modes.h"
#include "app/wiring.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "report/run_report.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

struct Options {
  std::filesystem::path run;
  ConfigOptions config;
  bool json = false;
};

json read_summary(const std::filesystem::path& path) {
  auto summary = json::parse(io::read_file(path), nullptr, false);
  if (!summary.is_object()) input_error("{}: expected a JSON object", path.string());
  return summary;
}

/// Puts what was found in the place of what an earlier analysis said.
void update(json& summary, const ModesFound& found) {
  summary.update(found.summary);
  auto verdicts = json::array();
  if (summary.contains("verdicts") && summary["verdicts"].is_array())
    for (const auto& verdict : summary["verdicts"])
      if (!verdict.is_object() || verdict.value("about", json()) != json("modes")) verdicts.push_back(verdict);
  verdicts.push_back({{"level", found.verdict.level}, {"about", found.verdict.about}, {"text", found.verdict.text}});
  summary["verdicts"] = verdicts;
}

/// What the run's mean and SD were taken over, and what these modes are of.
bool counts_otherwise(const json& summary, const ModesFound& found) {
  const auto left_out = [](const json& of) {
    const auto modes = of.find("modes");
    return modes != of.end() && modes->is_object() ? modes->value("left_out", json()) : json();
  };
  const auto statistics = summary.find("statistics");
  const auto weights = statistics != summary.end() && statistics->is_object() ? statistics->value("weights", "") : "";
  return weights != found.weighed_by || left_out(summary) != left_out(found.summary);
}

int find_modes_of(Options& options) {
  c10::NoGradGuard no_gradients;
  require_finished(options.run);
  options.config.path = options.run / "config.yaml";
  auto summary = read_summary(options.run / "summary.json");
  const auto samples = io::read_npy(options.run / "samples.npy");
  // Asked for by this command, whatever the likelihood.
  if (!load_settings(options.config).has("modes")) options.config.assignments.push_back("modes.most=6");
  const auto problem = load_problem(options.config);
  require_shape(samples, problem.posterior.image_shape(), (options.run / "samples.npy").string());
  const auto source = odds_source(problem.posterior, *problem.sampler, problem.plan.steps, problem.placement);
  const auto found = write_modes(options.run, *problem.modes, *problem.posterior.likelihood,
                                 place(samples, problem.placement), problem.seed, source);
  // Their records are gone: what is left of every chain is its last sample.
  if (counts_otherwise(summary, found))
    fmt::print(
        stderr,
        "penumbra: mean.npy, sd.npy and quantiles.npy stay as the run wrote them, over other samples or by other "
        "weights; means and SDs of these modes are in {}\n",
        (options.run / "modes").string());
  update(summary, found);
  io::write_file(options.run / "summary.json", json_text(summary, 2) + "\n");
  // Where they are aligned otherwise than before, so is the truth.
  if (const auto truth = options.run / "truth.npy"; std::filesystem::exists(truth))
    evaluate_run(options.run, io::read_npy(truth), truth.string());
  else
    report::write_run_report(options.run);
  fmt::print("{}\n", options.json ? found.summary.dump(2) : found.verdict.text);
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("RUN", options->run, "folder of a finished run")->required();
  command.add_option("--set", options->config.assignments, "override a key: --set modes.align=none")->take_all();
  command.add_flag("--json", options->json, "print JSON");
  add_machine_options(command, options->config.machine);
  return [options] { return find_modes_of(*options); };
}

}  // namespace

extern const CommandEntry modes{"modes", "sort the samples of a run into modes, and measure their rings", declare};

}  // namespace penumbra::app
