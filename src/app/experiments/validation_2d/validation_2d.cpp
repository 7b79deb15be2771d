/// penumbra experiment validation-2d: Table 2 and the convergence plots of the supplement (Section V.A).
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/validation_2d/page.h"
#include "io/file.h"

namespace penumbra::app {
namespace {

using namespace validation_2d;

/// A third of the posteriors and half of the evaluations: under a minute.
constexpr Effort quick_effort{.posteriors = 6, .evaluate_every = 50};

/// Every configuration of the table once; two of its columns share the default.
Courses simulate_all(const Problem& problem, const Effort& effort, uint64_t seed) {
  Courses courses;
  for (const auto algorithm : algorithms)
    for (const auto& column : table_2()) {
      const auto configuration = column.configuration(algorithm);
      if (courses.contains(configuration)) continue;
      const auto& course = courses[configuration] = simulate(problem, effort, configuration, seed);
      fmt::print(
          "{} gamma {:<4g} sigma_min {:<4g} eps_max {:<5g} FI {:.4f}  KL {:.4f}  ({:.1f} s sampling, {:.1f} s "
          "evaluating)\n",
          algorithm_name(algorithm), configuration.gamma, configuration.sigma_min, configuration.eps_max,
          curve(course, &Distances::fi).least_mean(), curve(course, &Distances::kl).least_mean(), course.sampling_s,
          course.evaluating_s);
      std::fflush(stdout);
    }
  return courses;
}

nlohmann::json settings(const Effort& effort, const Tolerance& tolerance) {
  return {{"posteriors", effort.posteriors},
          {"chains", effort.chains},
          {"steps", effort.steps},
          {"evaluate_from", effort.evaluate_from},
          {"evaluate_every", effort.evaluate_every},
          {"precision", "float64"},
          {"fi_tolerance_relative", tolerance.relative},
          {"fi_tolerance_absolute", tolerance.absolute}};
}

void write(const Results& results, const ExperimentOptions& options) {
  const auto& out = options.out;
  io::write_file(out / "table.md", "# Table 2\n\n" + markdown(table_2_layout(results.rows)) + "\n# Every cell\n\n" +
                                       markdown(all_cells(results.rows)));
  io::write_file(out / "table.csv", csv(all_cells(results.rows)));
  io::write_file(out / "curves.csv", csv(all_curves(results.courses)));
  for (const auto& figure : convergence_figures(results.rows, results.courses))
    io::write_file(out / (figure.name + ".svg"), standalone_svg(figure));
  io::write_file(out / "report.html", page(results, options));
  write_record("validation-2d", options, settings(results.effort, results.tolerance), results.checks, results.seconds);
}

int run(const ExperimentOptions& options) {
  claim_folder("validation-2d", options, 8 << 20);
  const auto start = std::chrono::steady_clock::now();
  Results results;
  results.effort = options.quick ? quick_effort : Effort{};
  results.tolerance = tolerance(results.effort);
  results.problem = make_problem(results.effort.posteriors);
  results.courses = simulate_all(results.problem, results.effort, options.seed);
  results.rows = make_rows(results.problem, results.courses, results.tolerance);
  results.checks = make_checks(results.rows, results.courses, results.tolerance);
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write(results, options);
  fmt::print("\n{}\n", aligned(table_2_layout(results.rows)));
  print_checks(results.checks);
  fmt::print("{:.0f} s; {}\n", results.seconds, (options.out / "report.html").string());
  return all_passed(results.checks) ? success : machine_failure;
}

}  // namespace

extern const ExperimentEntry validation_2d_entry{
    "validation-2d", "Table 2 and the convergence plots of Section V.A, beside their closed form", run};

}  // namespace penumbra::app
