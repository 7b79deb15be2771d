#include "app/evaluate_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "app/json.h"
#include "core/error.h"
#include "diagnostics/alignment.h"
#include "diagnostics/metrics.h"
#include "io/file.h"
#include "io/npy.h"
#include "report/run_folder.h"
#include "report/run_report.h"

namespace penumbra::app {
namespace {

using diagnostics::Estimate;
using diagnostics::Shift;

Tensor read_exactly(const std::filesystem::path& path) { return io::read_npy(path).to(at::kDouble); }

Tensor rolled(const Tensor& image, const Shift& by) { return image.roll({by.rows, by.columns}, {-2, -1}); }

/// The samples moved onto one another, where the run took it that the data do not fix their places; else nothing.
std::optional<Estimate> aligned_estimate(const std::filesystem::path& run, const Tensor& samples) {
  const auto path = run / "modes.json";
  if (!std::filesystem::exists(path) || !std::filesystem::exists(run / "modes" / "aligned-mean.npy")) return {};
  const auto modes = nlohmann::json::parse(io::read_file(path), nullptr, false);
  std::vector<Tensor> moved;
  try {
    const auto& each = modes.at("per_sample");
    const auto shifts = each.at("shift").get<std::vector<std::array<int64_t, 2>>>();
    // Those that fit too badly are not among them.
    const auto number = each.at("sample").get<std::vector<int64_t>>();
    for (size_t i = 0; i < shifts.size(); ++i) {
      if (number.at(i) < 0 || number.at(i) >= samples.size(0)) throw std::out_of_range("sample");
      moved.push_back(rolled(samples[number[i]], {shifts[i][0], shifts[i][1]}));
    }
    if (moved.empty()) throw std::out_of_range("shift");
  } catch (const std::exception&) {
    input_error("{}: per_sample: expected samples of samples.npy, and for each a shift of two whole numbers",
                path.string());
  }
  return Estimate{read_exactly(run / "modes" / "aligned-mean.npy"), read_exactly(run / "modes" / "aligned-sd.npy"),
                  at::stack(moved)};
}

/// Of a deterministic method.
bool is_one_image(const std::filesystem::path& run) {
  const auto summary = nlohmann::json::parse(io::read_file(run / "summary.json"), nullptr, false);
  return report::text_at(summary, {"sampler", "random"}) == "false";
}

}  // namespace

nlohmann::json evaluate_run(const std::filesystem::path& run, const Tensor& given, const std::string& name) {
  Estimate estimate{read_exactly(run / "mean.npy"), read_exactly(run / "sd.npy"), read_exactly(run / "samples.npy")};
  const auto shape = estimate.mean.sizes().vec();
  if (given.sizes() != at::IntArrayRef(shape))
    input_error("{}: expected an image of {}, as the run's, found {}", name, describe(shape), describe(given.sizes()));
  if (!given.isfinite().all().item<bool>()) input_error("{}: expected finite pixels, found some that are not", name);
  io::write_npy(run / "truth.npy", given.to(at::kFloat));
  auto truth = given.to(at::kDouble);
  auto aligned = aligned_estimate(run, estimate.samples);
  if (aligned) {
    estimate = std::move(*aligned);
    truth = rolled(truth, diagnostics::shift_onto(truth, estimate.mean, std::max(shape[1], shape[2])));
    io::write_npy(run / "modes" / "aligned-truth.npy", truth.to(at::kFloat));
  }
  auto metrics = diagnostics::to_json(diagnostics::compare(truth, estimate));
  metrics["samples"] = aligned ? "aligned, and the truth with them" : "as they are";
  if (is_one_image(run)) {
    // How far images from different starts are apart says nothing of the truth.
    for (const auto* key : {"nll", "coverage_3sd", "mean_sd", "error_sd_rank_correlation", "calibration"})
      metrics[key] = nullptr;
    metrics["samples"] = "one image: a deterministic method has no uncertainty to judge";
  }
  io::write_file(run / "metrics.json", json_text(metrics, 2) + "\n");
  report::write_run_report(run);
  return metrics;
}

void print_metrics(const nlohmann::json& metrics) {
  for (const auto& [name, value] : metrics.items()) {
    if (value.is_number()) fmt::print("{:<26} {:>10.5g}\n", name, value.get<double>());
    if (!value.is_object()) continue;
    const auto convention = value.value("convention", "");
    for (const auto* unit : {"db", "per_pixel", "value"})
      if (value.contains(unit) && value[unit].is_number())
        fmt::print("{:<26} {:>10.5g}{}{}\n", name, value[unit].get<double>(), std::string(unit) == "db" ? " dB" : "",
                   convention.empty() ? "" : "  (" + convention + ")");
  }
}

}  // namespace penumbra::app
