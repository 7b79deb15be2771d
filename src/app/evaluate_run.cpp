#include "app/evaluate_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "diagnostics/metrics.h"
#include "io/file.h"
#include "io/npy.h"
#include "report/run_report.h"

namespace penumbra::app {

nlohmann::json evaluate_run(const std::filesystem::path& run, const Tensor& truth, const std::string& name) {
  const auto mean = io::read_npy(run / "mean.npy").to(at::kDouble);
  const auto sd = io::read_npy(run / "sd.npy").to(at::kDouble);
  const auto samples = io::read_npy(run / "samples.npy").to(at::kDouble);
  if (truth.sizes() != mean.sizes())
    input_error("{}: expected an image of {}, as the run's, found {}", name, describe(mean.sizes()),
                describe(truth.sizes()));
  const auto metrics = diagnostics::to_json(diagnostics::compare(truth, {mean, sd, samples}));
  io::write_npy(run / "truth.npy", truth.to(at::kFloat));
  io::write_file(run / "metrics.json", metrics.dump(2) + "\n");
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
