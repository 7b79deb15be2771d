#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/interferometry/comparison.h"
#include "core/yaml.h"
#include "io/file.h"
#include "io/image.h"
#include "report/number.h"

namespace penumbra::app::interferometry {
namespace {

using report::Level;

double seconds_of(const Comparison& comparison) {
  double sum = 0;
  for (const auto& m : comparison.methods) sum += m.seconds();
  return sum;
}

/// The settings of the first image; other images' differ by what is derived from their data.
TextTable settings_table(const Comparison& comparison) {
  TextTable table{{"method", "settings on the first image", "steps", "chains"}, {}};
  for (const auto& m : comparison.methods) {
    const auto& first = m.images.front();
    // The dirty image has none.
    const auto settings = first.sampler.empty() ? "" : yaml::format_flow(*yaml::parse(first.sampler, m.method));
    table.rows.push_back({m.method, settings, std::to_string(first.steps), std::to_string(first.chains)});
  }
  return table;
}

nlohmann::json settings_of(const Comparison& comparison, const ExperimentOptions& options) {
  auto methods = nlohmann::json::array();
  for (const auto& m : comparison.methods) {
    auto samplers = nlohmann::json::array();
    for (const auto& image : m.images) samplers.push_back(image.sampler);
    methods.push_back(
        {{"method", m.method}, {"samplers", samplers}, {"chains", m.images.front().chains}, {"seconds", m.seconds()}});
  }
  return {{"images", comparison.truths.names}, {"source", comparison.truths.source}, {"observation", comparison.setup},
          {"prior", comparison.prior},         {"device", options.device.str()},     {"methods", methods}};
}

std::string html(const Comparison& comparison, const ExperimentOptions& options) {
  const auto& checks = comparison.checks;
  report::Page page(
      "Black holes from closures",
      fmt::format("{}; seed {}, {}{}", comparison.truths.source, options.seed,
                  report::format_duration(seconds_of(comparison)), options.quick ? ", quick version" : ""));
  if (!checks.empty()) {
    const auto passed = std::count_if(checks.begin(), checks.end(), [](const Check& c) { return c.passed; });
    page.verdict(all_passed(checks) ? Level::good : Level::warning,
                 all_passed(checks) ? "All that is asked of APMC holds on these images."
                                    : "Not all that is asked of APMC holds on these images.",
                 {{all_passed(checks) ? Level::good : Level::warning,
                   fmt::format("{} of {} checks hold", passed, checks.size())}});
  }
  page.section("Methods", comparison.setup + "; prior " + comparison.prior +
                              ". Mean over the images, after the shift that closures leave free. The dirty image is "
                              "given what nobody has, visibilities without the stations' errors.");
  page.table(as_numbers(method_table(comparison)));
  page.section("Images");
  page.figures(
      {report::Picture{.title = "Contact sheet",
                       .caption = fmt::format("From the left: {}.", fmt::join(contact_columns(comparison), ", ")),
                       .image = contact_sheet(comparison).to(at::kDouble) / 255,
                       .range = {0, 1},
                       .map = report::Colormap::gray,
                       .bar = false}},
      report::Size::full);
  if (!checks.empty()) page.section("Checks").findings(findings(checks));
  page.section("Every image").table(as_numbers(image_table(comparison)));
  page.section("Settings").table(as_numbers(settings_table(comparison)));
  return page.html();
}

}  // namespace

int write(const Comparison& comparison, const ExperimentOptions& options) {
  const auto& out = options.out;
  const auto table = method_table(comparison);
  io::write_file(
      out / "table.md",
      fmt::format("# Black holes from closures\n\n{}; {}; prior {}; seed {}; {:.0f} s on {}\n\n{}\n## Settings\n\n{}",
                  comparison.truths.source, comparison.setup, comparison.prior, options.seed, seconds_of(comparison),
                  options.device.str(), markdown(table), markdown(settings_table(comparison))));
  io::write_file(out / "images.csv", csv(image_table(comparison)));
  io::write_png(out / "contact-sheet.png", contact_sheet(comparison));
  io::write_file(out / "report.html", html(comparison, options));
  write_record("blackhole", options, settings_of(comparison, options), comparison.checks, seconds_of(comparison));
  fmt::print("\n{}\n", aligned(table));
  if (!comparison.checks.empty()) print_checks(comparison.checks);
  fmt::print("{:.0f} s; {}\n", seconds_of(comparison), (out / "report.html").string());
  return success;
}

}  // namespace penumbra::app::interferometry
