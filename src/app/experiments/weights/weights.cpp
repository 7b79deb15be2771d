/// penumbra experiment weights: the posterior's odds of its modes from samples and score, against the exact ones.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/record.h"
#include "app/experiments/weights/images.h"
#include "app/experiments/weights/plane.h"
#include "io/file.h"
#include "report/number.h"

namespace penumbra::app {
namespace {

using namespace weights;

struct Results {
  PlaneEffort plane_effort;
  ImageEffort image_effort;
  std::vector<PlanePair> plane;
  std::vector<Case> images;
  std::vector<MethodSummary> plane_methods, image_methods;
  std::string image_source;
  std::vector<Check> checks;
  double seconds = 0;
};

std::vector<Check> make_checks(const Results& results) {
  const auto trusted = [](const Case& c) { return c.known() && c.odds.trusted; };
  int64_t plane_trusted = 0, images_trusted = 0;
  double worst = 0, counts = 0;
  for (const auto& [exact, noisy] : results.plane) {
    plane_trusted += trusted(exact) && trusted(noisy);
    counts = std::max(counts, std::abs(exact.share - exact.exact_weight()));
  }
  for (const auto& c : results.images) {
    images_trusted += trusted(c);
    worst = std::max(worst, trusted(c) ? std::abs(c.log_odds - c.exact) : INFINITY);
  }
  const double exact = largest_miss(results.plane, &PlanePair::exact),
               noisy = largest_miss(results.plane, &PlanePair::noisy);
  const auto divergence_of = [&](const std::string& method) {
    for (const auto& summary : results.plane_methods)
      if (summary.method == method) return mean_divergence(summary);
    return static_cast<double>(INFINITY);
  };
  const double smc = divergence_of("SMC"), replica = divergence_of("replica exchange");
  return {
      {"2-D: KL of the weights is below 0.05 by sequential Monte Carlo, below 0.1 by replica exchange",
       smc < 0.05 && replica < 0.1, fmt::format("{:.2g} and {:.2g}", smc, replica)},
      {"2-D: every weight is within 0.01 of the exact one", exact <= 0.01, fmt::format("at most {:.4f}", exact)},
      {"2-D: and within 0.02 after sampling with a noisy score", noisy <= 0.02, fmt::format("at most {:.4f}", noisy)},
      {"2-D: the shares of the chains are not the weights", counts > 0.1, fmt::format("up to {:.2f} off", counts)},
      {"2-D: all odds are trusted", plane_trusted == static_cast<int64_t>(results.plane.size()),
       fmt::format("{} of {}", plane_trusted, results.plane.size())},
      {"images: log-odds are within 0.3 nats of the exact ones", worst <= 0.3, fmt::format("at most {:.3f}", worst)},
      {"images: all odds are trusted", images_trusted == static_cast<int64_t>(results.images.size()),
       fmt::format("{} of {}", images_trusted, results.images.size())}};
}

/// Weights of the first mode against the exact ones; what is right lies on the diagonal.
report::Chart weights_chart(const std::vector<PlanePair>& plane) {
  report::Chart chart{.title = "Weight of the first mode, twenty posteriors",
                      .x = {.label = "exact"},
                      .y = {.label = "estimated"},
                      .width = 420,
                      .square = true};
  report::Series counts{.name = "counts", .mark = report::Mark::points},
      odds{.name = "odds", .mark = report::Mark::points},
      noisy{.name = "odds, noisy sampling", .mark = report::Mark::points};
  for (const auto& pair : plane) {
    for (auto* series : {&counts, &odds, &noisy}) series->x.push_back(pair.exact.exact_weight());
    counts.y.push_back(pair.exact.share), odds.y.push_back(pair.exact.weight()), noisy.y.push_back(pair.noisy.weight());
  }
  chart.series = {{.x = {0, 1}, .y = {0, 1}, .dashed = true}, counts, odds, noisy};
  return chart;
}

std::string page(const Results& results, const ExperimentOptions& options) {
  report::Page page("The weights of modes",
                    fmt::format("Seed {}, {}{}", options.seed, report::format_duration(results.seconds),
                                options.quick ? ", quick version" : ""));
  const bool good = all_passed(results.checks);
  page.verdict(good ? report::Level::good : report::Level::bad,
               good ? "The score gives the odds of the modes; the shares of the chains do not."
                    : "Some of the claims below do not hold in this run.");
  page.section("In the plane",
               fmt::format("{} posteriors, {} chains of APMC-RED each. Noisy: sampled with a score error "
                           "of 2.5; the odds take the exact score.",
                           results.plane.size(), results.plane_effort.chains));
  page.table(as_numbers(comparison(results.plane_methods)));
  page.figures({report::Plot{weights_chart(results.plane)}});
  page.table(as_numbers(weights_table(results.plane)));
  page.section("Images", fmt::format("{}, {} chains of PMC-RED each; log-odds of the first mode in nats.",
                                     results.image_source, results.image_effort.parameters.chains));
  page.table(as_numbers(odds_table(results.images)));
  page.text("The same by other ways, modes of equal shapes; infinite: all samples in one mode.");
  page.table(as_numbers(odds_comparison(results.image_methods)));
  page.text(
      "The odds are those at the smoothing of the last step, as the samples are; the smoothing itself moves the "
      "odds (exact at 0). tau: eigenvalues of the second mode's covariance are times exp(tau N(0, 1)).");
  page.section("Checks").findings(findings(results.checks));
  return page.html();
}

void write(const Results& results, const ExperimentOptions& options) {
  const auto& out = options.out;
  io::write_file(out / "table.md", "# In the plane\n\n" + markdown(comparison(results.plane_methods)) + "\n" +
                                       markdown(weights_table(results.plane)) + "\n# Images\n\n" +
                                       markdown(odds_table(results.images)) + "\n" +
                                       markdown(odds_comparison(results.image_methods)));
  io::write_file(out / "plane.csv", csv(weights_table(results.plane)));
  io::write_file(out / "images.csv", csv(odds_table(results.images)));
  io::write_file(out / "plane-methods.csv", csv(comparison(results.plane_methods)));
  io::write_file(out / "image-methods.csv", csv(odds_comparison(results.image_methods)));
  io::write_file(out / "weights.svg", report::svg(weights_chart(results.plane), true));
  io::write_file(out / "report.html", page(results, options));
  const auto& p = results.image_effort.parameters;
  write_record("weights", options,
               {{"plane",
                 {{"posteriors", results.plane_effort.posteriors},
                  {"chains", results.plane_effort.chains},
                  {"steps", results.plane_effort.steps}}},
                {"images",
                 {{"source", results.image_source},
                  {"side", p.side},
                  {"chains", p.chains},
                  {"steps", p.steps},
                  {"gamma", p.gamma},
                  {"sigma_min", p.sigma_min}}}},
               results.checks, results.seconds);
}

int run(const ExperimentOptions& options) {
  claim_folder("weights", options, 8 << 20);
  const auto start = std::chrono::steady_clock::now();
  Results results;
  auto& p = results.image_effort.parameters;
  p.chains = 200;
  if (options.quick) results.plane_effort.posteriors = 6, p.side = 16, p.chains = 100;
  results.plane = weigh_plane(results.plane_effort, options.seed);
  results.plane_methods =
      compare_plane(results.plane, results.plane_effort, plane_alternatives(options.quick), options.seed);
  fmt::print("{}\n", aligned(comparison(results.plane_methods)));
  std::fflush(stdout);
  const auto images = options.images.empty() ? statistical::surrogate_images(p.side, options.seed)
                                             : statistical::folder_images(options.images, p.side);
  results.image_source = images.source;
  results.images = weigh_images(results.image_effort, images, options.seed);
  // Where every method has a chance, and where the odds have all of the work.
  auto few = results.image_effort;
  few.wanted.resize(options.quick ? 1 : 2);
  results.image_methods = compare_images(few, images, results.images,
                                         image_alternatives(p.sigma_min, p.gamma, options.quick), options.seed);
  results.checks = make_checks(results);
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write(results, options);
  fmt::print("{}\n{}\n", aligned(weights_table(results.plane)),
             aligned(odds_table(results.images)) + "\n" + aligned(odds_comparison(results.image_methods)));
  print_checks(results.checks);
  fmt::print("{:.0f} s; {}\n", results.seconds, (options.out / "report.html").string());
  return all_passed(results.checks) ? success : machine_failure;
}

}  // namespace

extern const ExperimentEntry weights_entry{
    "weights", "the modes' weights from the posterior's score, against the exact ones", run};

}  // namespace penumbra::app
