#include "app/run_files.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/chrono.h>
#include <torch/version.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/data_share.h"
#include "app/json.h"
#include "app/run_modes.h"
#include "app/sky_data.h"
#include "app/stein_check.h"
#include "app/step_effect.h"
#include "core/error.h"
#include "diagnostics/fitting.h"
#include "diagnostics/quantiles.h"
#include "diagnostics/verdict.h"
#include "diagnostics/weighted.h"
#include "io/file.h"
#include "io/npy.h"
#include "priors/clamped_sigma.h"
#include "priors/network.h"
#include "report/run_report.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json optional_number(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

std::string utc(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

json describe_problem(const Problem& problem, const ChainRun& run) {
  int64_t data_count = 0;
  for (const auto& misfit : problem.posterior.likelihood->misfit(run.state().x)) data_count += misfit.data_count;
  json about{{"prior", problem.prior_kind},
             {"likelihood", problem.likelihood_kind},
             {"image_shape", problem.posterior.image_shape()},
             {"data_count", data_count}};
  if (const auto type = network_compute(*problem.posterior.prior)) about["network_compute"] = *type;
  return about;
}

/// What every summary holds, however the run ended.
json common_summary(const Problem& problem, const ChainRun& run) {
  const auto now = std::chrono::system_clock::now();
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::duration<double>(run.seconds()));
  const auto iterations = static_cast<double>(run.state().k);
  json summary{{"program", {{"name", "penumbra"}, {"version", PENUMBRA_VERSION}, {"libtorch", TORCH_VERSION}}},
               {"device", problem.placement.device.str()},
               {"threads", at::get_num_threads()},
               {"processes", run.team().size()},
               {"seed", problem.seed},
               {"started", utc(now - elapsed)},
               {"finished", utc(now)},
               {"timings",
                {{"total_s", run.seconds()},
                 {"per_iteration_ms", 1000 * run.seconds() / std::max(iterations, 1.0)},
                 {"iterations", run.state().k}}},
               {"problem", describe_problem(problem, run)},
               {"sampler",
                {{"kind", problem.sampler_kind},
                 {"random", problem.entry->random},
                 {"steps", problem.plan.steps},
                 {"step_size", problem.sampler->step_size()},
                 {"precision", problem.placement.precision == at::kDouble ? "float64" : "float32"},
                 {"derived", describe_derived(problem.derived)}}},
               {"chains",
                {{"count", problem.plan.chains},
                 {"first", problem.plan.first_chain},
                 {"records", run.statistics().moments().records()},
                 {"record_from", problem.plan.record_from},
                 {"record_every", problem.plan.record_every}}}};
  for (const auto& [what, count] : problem.posterior.likelihood->data_facts().counts) summary["data"][what] = count;
  // Of a GPU: a graph, or why steps were called one by one.
  if (!run.step_mode().empty()) summary["timings"]["steps_as"] = run.step_mode();
  return summary;
}

json describe_limits(const Problem& problem, const StepLimits& limits) {
  return {{"step_size", problem.sampler->step_size()},
          {"stability_limit", optional_number(limits.stability_settled)},
          {"stability_limit_while_annealing", optional_number(limits.stability)},
          {"theorem_limit", optional_number(limits.theorem)},
          {"lipschitz_likelihood", optional_number(limits.lipschitz_likelihood)},
          {"lipschitz_prior", optional_number(limits.lipschitz_prior)}};
}

struct Judgement {
  json diagnostics;
  std::vector<diagnostics::Verdict> verdicts;
};

/// Deterministic methods have no samples, and a chain that is not finite has been judged already.
bool are_sorted(const Problem& problem, const Tensor& images) {
  return problem.modes && problem.entry->random && images.isfinite().all().item<bool>();
}

/// The last iterates' fit to the data; and the chains that are left out, by the fit of their images. add_modes chooses
/// by the same rule, of the samples that fit on its map.
struct Fit {
  std::vector<diagnostics::TermFit> terms;
  diagnostics::Fitting chosen;  ///< empty where all count

  Fit(const Problem& problem, const ChainRun& run, const Tensor& images)
      : terms(fits_of(*problem.posterior.likelihood, run.state().x)) {
    if (are_sorted(problem, images) && problem.modes->only_fitting)
      chosen = diagnostics::fitting_samples(fits_of(*problem.posterior.likelihood, images));
  }
  bool left_some_out() const { return !chosen.left_out.empty(); }

  /// Of something of every chain, along `axis`, that of the chains which count.
  Tensor counted(const Tensor& of_all, int64_t axis = 0) const {
    return left_some_out() ? of_all.index_select(axis, at::tensor(chosen.kept, at::kLong).to(of_all.device())) : of_all;
  }
};

void note_data(const Problem& problem, Judgement& judgement) {
  for (const auto& note : problem.posterior.likelihood->data_facts().notes)
    judgement.verdicts.push_back({"note", "data", note});
}

/// How well the data are explained, averaged over the last iterates of all chains, or of those that fit.
void judge_misfit(const Fit& fit, Judgement& judgement) {
  judgement.diagnostics["misfit"] = json::array();
  for (const auto& misfit : fit.terms) {
    const double of_all = misfit.chi2.mean().item<double>();
    const double chi2 = fit.counted(misfit.chi2).mean().item<double>();
    judgement.diagnostics["misfit"].push_back({{"term", misfit.term},
                                               {"chi2", number(chi2)},
                                               {"expected", 1},
                                               {"tolerance", std::sqrt(2 / static_cast<double>(misfit.data_count))},
                                               {"data_count", misfit.data_count}});
    auto verdict = diagnostics::misfit_verdict(misfit.term, chi2, misfit.data_count);
    if (fit.left_some_out()) {
      // They were chosen by the fit of their images, which is this number or near it.
      judgement.diagnostics["misfit"].back()["chi2_of_all"] = number(of_all);
      verdict.text += fmt::format("; of all samples, those that are left out too, it is {:.3g}", of_all);
    }
    judgement.verdicts.push_back(std::move(verdict));
  }
}

/// Where the score was not asked for at the sigma of the schedule, the samples are not those of the schedule.
void judge_clamping(const Problem& problem, int64_t count, Judgement& judgement) {
  if (count == 0) return;
  const auto [low, high] = problem.posterior.prior->sigma_range();
  judgement.diagnostics["clamped_sigma"] = {{"count", count}, {"low", low}, {"high", number(high)}};
  judgement.verdicts.push_back({"warning", "prior",
                                fmt::format("{} evaluations of the score were outside [{:g}, {:g}], where the prior is "
                                            "known, and took the nearest sigma (prior.out_of_range: clamp)",
                                            count, low, high)});
}

/// Whether the iterates are those of the posterior with the prior smoothed by the last sigma.
void judge_stein(const Problem& problem, const ChainRun& run, Judgement& judgement) {
  if (!problem.entry->random) {
    judgement.diagnostics["stein"] = {{"judged", false}, {"why_not", "a deterministic iteration draws no samples"}};
    return;
  }
  const auto source = odds_source(problem.posterior, *problem.sampler, problem.plan.steps, problem.placement);
  const auto check = check_stein(run.state().x, source, {.batch = problem.plan.batch, .seed = problem.seed});
  judgement.diagnostics["stein"] = to_json(check);
  judgement.verdicts.push_back(verdict_on(check, problem.sampler->annealing(problem.plan.steps - 1).alpha));
}

/// Over the traced iterations of which iterates are recorded.
double mean_acceptance(const Trace& trace, int64_t from) {
  double sum = 0, count = 0;
  for (const auto& row : trace.rows())
    if (row.iteration > static_cast<double>(from)) sum += row.acceptance, ++count;
  return sum / count;
}

/// How far the step size is from its limits, and what it did to the samples.
void judge_step(const Problem& problem, const ChainRun& run, Judgement& judgement) {
  // Without a theorem one point and one level will do: a large network takes minutes for more.
  const bool careful = covering_theorem(problem).has_value();
  const auto points = run.state().x.narrow(0, 0, careful ? std::min<int64_t>(4, run.state().x.size(0)) : 1);
  const auto limits = step_limits(problem, points, careful ? Levels::all : Levels::settled);
  judgement.diagnostics["step"] = describe_limits(problem, limits);
  if (!problem.entry->langevin) return;
  if (problem.entry->adjusted) {
    const double accepted = mean_acceptance(run.trace(), problem.plan.record_from);
    judgement.diagnostics["step"]["acceptance"] = number(accepted);
    judgement.verdicts.push_back(diagnostics::acceptance_verdict(problem.sampler->step_size(), accepted));
    return;
  }
  const auto centre = run.statistics().moments().mean().to(points.options()).unsqueeze(0);
  const auto effect = step_effect(problem, limits, points, centre);
  if (effect) judgement.diagnostics["step"]["bias"] = to_json(*effect);
  judgement.verdicts.push_back(diagnostics::step_verdict(problem.sampler->step_size(), limits.stability_settled,
                                                         limits.theorem,
                                                         effect ? std::optional(clause(*effect)) : std::nullopt));
}

Judgement judge(const Problem& problem, const ChainRun& run, const Fit& fit) {
  Judgement judgement;
  // Before the step limits below ask for more scores.
  const auto clamped = clamped_count(*problem.posterior.prior);
  if (problem.entry->random && !problem.entry->langevin) {
    judgement.verdicts.push_back({"note", "sampler",
                                  fmt::format("{} makes one image a chain, by an approximation whose error chains "
                                              "cannot show; the Stein discrepancy may",
                                              problem.sampler_kind)});
  } else if (problem.entry->random) {
    const auto convergence = diagnostics::assess(fit.counted(run.statistics().history().draws(), 1));
    judgement.diagnostics = diagnostics::to_json(convergence);
    using diagnostics::Chains;
    judgement.verdicts =
        diagnostics::verdicts(convergence, problem.entry->annealed ? Chains::annealed : Chains::stationary);
  } else {
    judgement.verdicts.push_back({"note", "sampler",
                                  fmt::format("{} is a deterministic iteration: its chains differ only "
                                              "by their start, and their spread is no uncertainty",
                                              problem.sampler_kind)});
  }
  note_data(problem, judgement);
  judge_misfit(fit, judgement);
  judge_clamping(problem, clamped, judgement);
  judge_stein(problem, run, judgement);
  judge_step(problem, run, judgement);
  return judgement;
}

/// Of findings of one level: samples of another law come before samples that have not settled, and these before
/// samples that are too few.
int gravity(const diagnostics::Verdict& verdict) {
  if (verdict.about == "mean" || verdict.about == "sd") return 0;
  return verdict.about == "convergence" || verdict.about == "drift" ? 1 : 2;
}

/// The worst finding speaks for the run.
std::string overall(const std::vector<diagnostics::Verdict>& verdicts, bool random) {
  for (const auto* level : {"bad", "warning"}) {
    const diagnostics::Verdict* gravest = nullptr;
    for (const auto& verdict : verdicts)
      if (verdict.level == level && (!gravest || gravity(verdict) > gravity(*gravest))) gravest = &verdict;
    if (gravest) return gravest->text;
  }
  return random ? "No diagnostic found anything wrong." : "One image, without a statement of its uncertainty.";
}

void write_summary(const fs::path& folder, json summary, const Judgement& judgement) {
  summary["diagnostics"] = judgement.diagnostics;
  summary["verdicts"] = json::array();
  for (const auto& [level, about, text] : judgement.verdicts)
    summary["verdicts"].push_back({{"level", level}, {"about", about}, {"text", text}});
  summary["verdict"] = overall(judgement.verdicts, summary["sampler"]["random"].get<bool>());
  io::write_file(folder / "summary.json", json_text(summary, 2) + "\n");
}

const std::vector<double> probabilities{0.005, 0.025, 0.5, 0.975, 0.995};

/// Every chain counts as its last iterate does: mean.npy over all records, sd.npy and quantiles.npy over those that
/// were kept. The unweighted ones go to unweighted/.
void write_weighted_statistics(const fs::path& folder, const Statistics& statistics,
                               const std::vector<double>& weights) {
  fs::create_directories(folder / "unweighted");
  for (const auto* name : {"mean.npy", "sd.npy", "quantiles.npy"})
    io::write_file(folder / "unweighted" / name, io::read_file(folder / name));
  const auto chains = static_cast<int64_t>(weights.size());
  const auto means = statistics.moments().chain_means().narrow(0, 0, chains);
  const auto draws = statistics.history().draws().narrow(1, 0, chains);
  io::write_npy(folder / "mean.npy", diagnostics::weighted_moments(means.unsqueeze(0), weights).mean.to(at::kFloat));
  io::write_npy(folder / "sd.npy", diagnostics::weighted_moments(draws, weights).sd.to(at::kFloat));
  io::write_npy(folder / "quantiles.npy",
                diagnostics::weighted_quantiles(draws, weights, probabilities).to(at::kFloat));
}

void add_sky_data(const fs::path& folder, const Problem& problem, const Tensor& images, json& summary) {
  if (!images.isfinite().all().item<bool>()) return;
  const auto about = write_sky_data(folder, *problem.posterior.likelihood, images);
  if (about.is_object()) summary["data"].update(about);
}

void add_modes(const fs::path& folder, const Problem& problem, const ChainRun& run, const Tensor& images, json& summary,
               Judgement& judgement) {
  if (!are_sorted(problem, images)) return;
  const auto source = odds_source(problem.posterior, *problem.sampler, problem.plan.steps, problem.placement);
  const auto found = write_modes(folder, *problem.modes, *problem.posterior.likelihood, images, problem.seed, source);
  summary.update(found.summary);
  judgement.verdicts.push_back(found.verdict);
  if (found.sample_weights.empty()) return;
  write_weighted_statistics(folder, run.statistics(), found.sample_weights);
  summary["statistics"] = {{"weights", found.weighed_by}, {"chains", found.sample_weights.size()}};
}

}  // namespace

void write_results(const fs::path& folder, const Problem& problem, const ChainRun& run) {
  const auto images = run.images();
  io::write_npy(folder / "samples.npy", images.to(at::kCPU, at::kFloat));
  io::write_npy(folder / "mean.npy", run.statistics().moments().mean().to(at::kFloat));
  io::write_npy(folder / "sd.npy", run.statistics().moments().sd().to(at::kFloat));
  const auto quantiles = diagnostics::quantiles(run.statistics().history().draws(), probabilities);
  io::write_npy(folder / "quantiles.npy", quantiles.to(at::kFloat));
  run.trace().write(folder / "trace.csv");
  if (!problem.observation.empty()) {
    fs::create_directories(folder / "inputs");
    const auto target = folder / "inputs" / "observation.npy";
    if (!fs::exists(target)) io::write_file(target, io::read_file(problem.observation));
  }
  auto summary = common_summary(problem, run);
  summary["outcome"] = "finished";
  const Fit fit(problem, run, images);
  auto judgement = judge(problem, run, fit);
  add_sky_data(folder, problem, fit.counted(images), summary);
  add_modes(folder, problem, run, images, summary, judgement);
  // After the modes, which may have weighted sd.npy. Iterates carry noise of the last sigma, unless they were denoised.
  const bool noisy = problem.entry->langevin && images.equal(run.state().x);
  summary["data_share"] =
      write_data_share(folder, problem, noisy ? problem.sampler->annealing(problem.plan.steps - 1).sigma : 0);
  write_summary(folder, std::move(summary), judgement);
  report::write_run_report(folder);
}

void write_divergence(const fs::path& folder, const Problem& problem, const ChainRun& run, const StepLimits& limits) {
  run.trace().write(folder / "trace.csv");
  auto summary = common_summary(problem, run);
  summary["outcome"] = "diverged";
  summary["diverged_at"] = run.state().k;
  Judgement judgement;
  judgement.diagnostics["step"] = describe_limits(problem, limits);
  const auto advice = limits.stability ? fmt::format("; a step below {:.3g} would be stable", *limits.stability) : "";
  judgement.verdicts.push_back({"bad", "divergence",
                                fmt::format("the chains diverged at iteration {} with step_size {:g}{}", run.state().k,
                                            problem.sampler->step_size(), advice)});
  write_summary(folder, std::move(summary), judgement);
  report::write_run_report(folder);
}

int print_summary(const fs::path& folder) {
  const auto summary = json::parse(io::read_file(folder / "summary.json"), nullptr, false);
  if (!summary.is_object()) input_error("{}: expected a JSON object", (folder / "summary.json").string());
  for (const auto& verdict : summary.value("verdicts", json::array()))
    fmt::print("{:>8}  {}\n", verdict.value("level", ""), verdict.value("text", ""));
  fmt::print("{}\n", summary.value("verdict", ""));
  return summary.value("outcome", "") == "diverged" ? diverged : success;
}

}  // namespace penumbra::app
