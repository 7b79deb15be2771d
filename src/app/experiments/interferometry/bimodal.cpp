/// penumbra experiment bimodal: a source that can be imaged two ways round. Part A has a prior with a formula and exact
/// answers, part B the learned prior and the paper's question, whether annealed chains find both.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/interferometry/bimodal.h"
#include "app/experiments/interferometry/network.h"
#include "app/experiments/linear/method_file.h"
#include "app/progress.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "run/interrupt.h"

namespace penumbra::app {
namespace {

using namespace interferometry;
using nlohmann::json;

BimodalResults analytic_part(const ExperimentOptions& options, int64_t chains) {
  BimodalResults part;
  part.side = options.quick ? 32 : 64;
  const auto problem = analytic_problem(part.side, options.seed);
  part.annealed =
      anneal_amplitudes(problem, {.chains = chains, .seed = options.seed, .placement = {at::kFloat, options.device}});
  const auto share = share_of(part.annealed);
  const auto fewest = static_cast<int64_t>(std::lround(std::min(share, 1 - share) * static_cast<double>(chains)));
  if (fewest >= 2) part.odds = amplitude_odds(problem, part.annealed, options.quick ? 8 : 30);
  const auto coordinates = widened_coordinates(five_station_problem(part.side, options.seed));
  part.ladder =
      ladder_odds(coordinates, options.quick ? 10 : 8, {.chains = options.quick ? 100 : 200, .seed = options.seed});
  part.turned_odds = turned_odds(coordinates, part.ladder, 50);
  constexpr int iterations = 3000;
  part.first = optimum(problem, From::mean, iterations);
  part.second = optimum(problem, From::turned, iterations);
  return part;
}

std::vector<Method> methods(const ExperimentOptions& options) {
  if (!options.methods.empty()) return linear::read_methods(options.methods);
  const auto steps = options.steps > 0 ? options.steps : options.quick ? 60 : 400;
  std::vector<Method> list;
  for (const auto& [name, kind] : {std::pair{"APMC-RED", "apmc-red"}, {"APMC-PnP", "apmc-pnp"}})
    list.push_back({name, fmt::format("{{kind: {}, steps: {}}}", kind, steps)});
  // A fit of a flow and no chain: a tenth of its steps would say nothing, so that a quick run only shows that it runs.
  list.push_back(
      {"scoreDPI", options.quick ? "{kind: score-dpi, steps: 10, batch: 4, levels: 4}" : "{kind: score-dpi}"});
  return list;
}

/// Samples and seconds that an interrupted run has left, or new ones.
OrientationStudy sampled(const Method& method, const SkyCase& sky, const Network& network,
                         const SamplingOptions& sampling, const std::filesystem::path& folder, const OnStep& on_step) {
  const auto prepared = prepare(method, sky, network.prior, sampling.seed);
  const auto made_from = fmt::format("{} | {} | {} chains | seed {} | prior {}", PENUMBRA_VERSION, prepared.resolved,
                                     sampling.chains, sampling.seed, network.digest);
  OrientationStudy study;
  study.method = method.name;
  study.sampler = prepared.resolved;
  const auto record = folder / "sampled.json";
  if (std::filesystem::exists(record)) {
    const auto found = json::parse(io::read_file(record), nullptr, false);
    if (!found.is_discarded() && found.value("fingerprint", "") == made_from) {
      study.seconds = found.at("seconds").get<double>();
      study.samples = io::read_npy(folder / "samples.npy").to(at::kDouble);
      return study;
    }
  }
  const auto fresh = sample(prepared, network.prior, sampling, on_step);
  study.samples = fresh.last;
  study.seconds = fresh.seconds;
  std::filesystem::create_directories(folder);
  // The old one must not speak for the new array.
  std::filesystem::remove(record);
  io::write_npy(folder / "samples.npy", fresh.last.to(at::kFloat));
  io::write_file(record, json{{"fingerprint", made_from}, {"seconds", study.seconds}}.dump(1) + "\n");
  return study;
}

int run_bimodal(const ExperimentOptions& options) {
  claim_folder("bimodal", options, 16 << 20);
  listen_for_interrupts();
  const auto begin = std::chrono::steady_clock::now();
  const Placement placement{at::kFloat, options.device};
  const auto network = read_network(options, placement);
  auto results = analytic_part(options, options.chains > 0 ? options.chains : options.quick ? 40 : 100);
  auto exact = exact_checks(results);
  for (auto& check : weight_checks(results)) exact.push_back(std::move(check));
  results.checks = exact;
  results.prior = network.name;
  const auto target = crescent_in_halo(network.prior->image_shape()[1]).unsqueeze(0);
  results.truth = target / target.max();
  const auto sky = observe_sky(results.truth, sgra_setup(), options.seed, placement);
  const SamplingOptions sampling{.chains = options.chains > 0 ? options.chains
                                           : options.quick    ? 4
                                                              : 100,
                                 .seed = options.seed,
                                 .placement = placement};
  Progress progress;
  for (const auto& method : methods(options)) {
    const auto folder = options.out / method.name;
    auto done = sampled(method, sky, network, sampling, folder, [&](int64_t k, int64_t steps) {
      if (penumbra::interrupted()) input_error("{}: interrupted; the same command goes on", options.out.string());
      progress.show(k, steps, "  " + method.name);
    });
    study(done, sky, folder, options.seed);
    fmt::print("{:<10} {:.1f} s\n", method.name, done.seconds);
    std::fflush(stdout);
    // A quick run is too short for what the paper claims of many samples.
    if (!options.quick && method.name.starts_with("APMC")) results.checks.push_back(t3(done));
    results.studies.push_back(std::move(done));
  }
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  write(results, options);
  print_checks(results.checks);
  fmt::print("{:.0f} s; {}\n", results.seconds, (options.out / "report.html").string());
  // T1, T1b and T2 are exact; T3 is a finding.
  return all_passed(exact) ? success : machine_failure;
}

}  // namespace

extern const ExperimentEntry bimodal_entry{
    "bimodal", "a source that closures allow two ways round: exact tests, APMC and scoreDPI", run_bimodal,
    /*takes_prior=*/true};

}  // namespace penumbra::app
