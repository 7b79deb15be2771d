#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/experiments/linear/comparison.h"
#include "io/file.h"
#include "io/image.h"
#include "report/number.h"

namespace penumbra::app::linear {
namespace {

using report::Level;

std::string columns(const TaskResults& task, bool sampled) {
  std::string text = sampled ? "" : "truth, adjoint";
  for (const auto& r : task.reconstructions)
    if (!sampled || r.sd.defined()) text += (text.empty() ? "" : ", ") + r.method;
  return text;
}

report::Picture figure(const std::string& title, const std::string& caption, const Tensor& bytes) {
  return {.title = title,
          .caption = caption,
          .image = bytes.to(at::kDouble) / 255,
          .range = {0, 1},
          .map = report::Colormap::gray,
          .bar = false};
}

void add_pictures(report::Page& page, const TaskResults& task) {
  const auto& name = task.problem.names.front();
  page.figures({figure(task.problem.task.label + ": reconstructions of " + name,
                       "From the left: " + columns(task, false) + ". Below: the part with most contrast, enlarged.",
                       reconstruction_figure(task, 0))},
               report::Size::full);
  if (columns(task, true).empty()) return;
  page.figures({figure(task.problem.task.label + ": uncertainty of " + name,
                       "From the left: " + columns(task, true) +
                           ". Absolute error; standard deviation on the same scale; the truth with the pixels beyond 3 "
                           "SD in red.",
                       uncertainty_figure(task, 0))},
               report::Size::full);
}

/// Once for tasks that share their images.
std::string images_in_words(const Comparison& comparison) {
  std::string text;
  for (const auto& task : comparison.tasks) {
    const auto& shape = task.problem.prior->image_shape();
    const auto words =
        fmt::format("{}, {} x {}, prior {}", task.problem.source, shape[1], shape[2], task.problem.task.prior);
    if (text.find(words) == std::string::npos) text += (text.empty() ? "" : "; ") + words;
  }
  return text;
}

nlohmann::json settings_of(const Comparison& comparison) {
  auto tasks = nlohmann::json::array();
  for (const auto& [problem, reconstructions] : comparison.tasks) {
    auto methods = nlohmann::json::array();
    for (const auto& r : reconstructions)
      methods.push_back({{"method", r.method}, {"sampler", r.sampler}, {"chains", r.chains}, {"seconds", r.seconds}});
    tasks.push_back({{"task", problem.task.key},
                     {"model", problem.task.model},
                     {"prior", problem.task.prior},
                     {"images", problem.names},
                     {"source", problem.source},
                     {"operator_norm_squared", problem.norm_sq},
                     {"noise_sd", problem.beta},
                     {"input_snr_db", problem.snr_db},
                     {"device", problem.placement.device.str()},
                     {"denoiser", problem.denoiser_name},
                     {"methods", methods}});
  }
  return tasks;
}

std::string html(const Comparison& comparison, const ExperimentOptions& options) {
  const auto& checks = comparison.checks;
  const auto passed = std::count_if(checks.begin(), checks.end(), [](const Check& c) { return c.passed; });
  report::Page page(comparison.title,
                    fmt::format("{}; seed {}, {}{}", images_in_words(comparison), options.seed,
                                report::format_duration(comparison.seconds), options.quick ? ", quick version" : ""));
  if (!checks.empty())
    page.verdict(all_passed(checks) ? Level::good : Level::warning,
                 all_passed(checks) ? "The paper's ordering holds on these images."
                                    : "Not all of the paper's claims hold on these images.",
                 {{all_passed(checks) ? Level::good : Level::warning,
                   fmt::format("{} of {} checks hold", passed, checks.size())}});
  page.section("Reconstruction",
               "Mean over the images. PSNR in the paper's convention: peak 1, mean clipped to "
               "[-1, 1]; add 6.02 dB for the usual one. The paper's figures are of other images.");
  page.table(as_numbers(reconstruction_table(comparison)));
  page.section("Uncertainty", "NLL a pixel; mean absolute error; mean SD; share of the pixels within 3 SD.");
  page.table(as_numbers(uncertainty_table(comparison)));
  page.section("Pictures");
  for (const auto& task : comparison.tasks) add_pictures(page, task);
  page.section("Convergence", "PSNR of the mean of all chains along the run, mean over the images.");
  std::vector<report::Figure> courses;
  for (const auto& task : comparison.tasks) courses.push_back(report::Plot{course_chart(task)});
  page.figures(courses, report::Size::large);
  if (!checks.empty()) page.section("Checks").findings(findings(checks));
  page.section("Settings").table(as_numbers(settings_table(comparison)));
  return page.html();
}

}  // namespace

int write(const Comparison& comparison, const ExperimentOptions& options) {
  const auto& out = options.out;
  const auto reconstruction = reconstruction_table(comparison), uncertainty = uncertainty_table(comparison);
  io::write_file(out / "table.md",
                 fmt::format("# {}\n\n{}; seed {}; {:.0f} s on {}\n\n## Reconstruction\n\n{}\n## Uncertainty\n\n{}\n## "
                             "Settings\n\n{}",
                             comparison.title, images_in_words(comparison), options.seed, comparison.seconds,
                             device_in_words(comparison.tasks.front().problem.placement.device),
                             markdown(reconstruction), markdown(uncertainty), markdown(settings_table(comparison))));
  io::write_file(out / "reconstruction.csv", csv(reconstruction));
  io::write_file(out / "uncertainty.csv", csv(uncertainty));
  io::write_file(out / "images.csv", csv(image_table(comparison)));
  for (const auto& task : comparison.tasks) {
    io::write_png(out / (task.problem.task.key + "-reconstruction.png"), reconstruction_figure(task, 0));
    if (!columns(task, true).empty())
      io::write_png(out / (task.problem.task.key + "-uncertainty.png"), uncertainty_figure(task, 0));
    io::write_file(out / (task.problem.task.key + "-course.svg"), report::svg(course_chart(task), true));
  }
  io::write_file(out / "report.html", html(comparison, options));
  write_record(comparison.experiment, options, settings_of(comparison), comparison.checks, comparison.seconds);
  fmt::print("\n{}\n{}\n", aligned(reconstruction), aligned(uncertainty));
  if (!comparison.checks.empty()) print_checks(comparison.checks);
  fmt::print("{:.0f} s; {}\n", comparison.seconds, (out / "report.html").string());
  return success;
}

}  // namespace penumbra::app::linear
