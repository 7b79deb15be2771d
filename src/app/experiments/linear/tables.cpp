#include <fmt/format.h>

#include "app/experiments/linear/comparison.h"
#include "core/yaml.h"

namespace penumbra::app::linear {
namespace {

const std::vector<Reconstruction>& rows_of(const Comparison& comparison) {
  return comparison.tasks.front().reconstructions;
}

std::string number(const char* format, std::optional<double> value) {
  return value ? fmt::format(fmt::runtime(format), *value) : "";
}

/// One row a method, for every task the cells that `cells` makes.
template <class Cells>
TextTable by_method(const Comparison& comparison, const std::vector<std::string>& columns, bool random_only,
                    Cells cells) {
  TextTable table;
  table.header = {"method"};
  for (const auto& task : comparison.tasks)
    for (const auto& column : columns) table.header.push_back(task.problem.task.label + " " + column);
  for (size_t i = 0; i < rows_of(comparison).size(); ++i) {
    if (random_only && !rows_of(comparison)[i].sd.defined()) continue;
    std::vector<std::string> row{rows_of(comparison)[i].method};
    for (const auto& task : comparison.tasks) {
      const auto& r = task.reconstructions[i];
      const auto paper = paper_row(r.method, task.problem.task.key);
      for (auto& cell : cells(r, paper)) row.push_back(r.diverged ? "diverged" : std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

TextTable reconstruction_table(const Comparison& comparison) {
  return by_method(comparison, {"PSNR dB", "paper", "MSE", "SSIM"}, false,
                   [](const Reconstruction& r, const std::optional<PaperRow>& paper) -> std::vector<std::string> {
                     return {number("{:.2f}", r.average(&Quality::psnr)),
                             number("{:.2f}", paper ? std::optional(paper->psnr) : std::nullopt),
                             number("{:.2e}", r.average(&Quality::mse)), number("{:.3f}", r.average(&Quality::ssim))};
                   });
}

TextTable uncertainty_table(const Comparison& comparison) {
  return by_method(
      comparison, {"NLL", "paper", "|error|", "SD", "in 3 SD", "error-SD rank corr."}, true,
      [](const Reconstruction& r, const std::optional<PaperRow>& paper) -> std::vector<std::string> {
        return {number("{:.3f}", r.average(&Quality::nll)),      number("{:.3f}", paper ? paper->nll : std::nullopt),
                number("{:.4f}", r.average(&Quality::mae)),      number("{:.4f}", r.average(&Quality::sd)),
                number("{:.3f}", r.average(&Quality::coverage)), number("{:.2f}", r.average(&Quality::correlation))};
      });
}

TextTable image_table(const Comparison& comparison) {
  TextTable table;
  table.header = {"task", "method", "image"};
  for (const auto& field : quality_fields()) table.header.push_back(field.name);
  for (const auto& [problem, reconstructions] : comparison.tasks)
    for (const auto& r : reconstructions)
      for (size_t i = 0; i < r.images.size(); ++i) {
        std::vector<std::string> row{problem.task.key, r.method, problem.names[i]};
        for (const auto& [name, value] : quality_fields()) row.push_back(fmt::format("{:.6g}", r.images[i].*value));
        table.rows.push_back(std::move(row));
      }
  return table;
}

TextTable settings_table(const Comparison& comparison) {
  TextTable table{{"task", "method", "sampler", "steps", "chains", "seconds", "ms a step"}, {}};
  for (const auto& [problem, reconstructions] : comparison.tasks)
    for (const auto& r : reconstructions)
      table.rows.push_back({problem.task.key, r.method, yaml::format_flow(*yaml::parse(r.sampler, r.method)),
                            std::to_string(r.steps), std::to_string(r.chains), fmt::format("{:.1f}", r.seconds),
                            fmt::format("{:.2f}", 1e3 * r.seconds / static_cast<double>(r.steps))});
  return table;
}

}  // namespace penumbra::app::linear
