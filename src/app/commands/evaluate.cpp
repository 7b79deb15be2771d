/// penumbra evaluate RUN --truth x: compares a run with the truth; writes metrics.json and the report again.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "core/error.h"
#include "diagnostics/metrics.h"
#include "io/file.h"
#include "io/image.h"
#include "io/npy.h"
#include "report/run_report.h"

namespace penumbra::app {
namespace {

struct Options {
  std::filesystem::path run, truth;
  std::vector<double> png_range{-1, 1};
  bool json = false;
};

void print_table(const nlohmann::json& metrics) {
  for (const auto& [name, value] : metrics.items()) {
    if (value.is_number()) fmt::print("{:<18} {:>12.5g}\n", name, value.get<double>());
    if (value.is_object() && value.contains("value") && value["value"].is_number())
      fmt::print("{:<18} {:>12.5g}  ({})\n", name, value["value"].get<double>(), value.value("convention", ""));
  }
}

int evaluate_run(const Options& options) {
  const auto mean = io::read_npy(options.run / "mean.npy").to(at::kDouble);
  const auto sd = io::read_npy(options.run / "sd.npy").to(at::kDouble);
  const auto samples = io::read_npy(options.run / "samples.npy").to(at::kDouble);
  const auto truth = io::read_image(options.truth, options.png_range.at(0), options.png_range.at(1));
  if (truth.sizes() != mean.sizes())
    input_error("{}: expected an image of {}, as the run's, found {}", options.truth.string(), describe(mean.sizes()),
                describe(truth.sizes()));
  const auto metrics = diagnostics::to_json(diagnostics::evaluate(truth, mean, sd, samples));
  io::write_npy(options.run / "truth.npy", truth.to(at::kFloat));
  io::write_file(options.run / "metrics.json", metrics.dump(2) + "\n");
  penumbra::report::write_run_report(options.run);
  if (options.json)
    fmt::print("{}\n", metrics.dump(2));
  else
    print_table(metrics);
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("RUN", options->run, "folder of the run")->required();
  command.add_option("--truth", options->truth, "the true image: NPY or PNG")->required();
  command.add_option("--png-range", options->png_range, "values of a PNG's black and white")->expected(2);
  command.add_flag("--json", options->json, "print JSON");
  return [options] { return evaluate_run(*options); };
}

}  // namespace

extern const CommandEntry evaluate{"evaluate", "compare a run with the truth", declare};

}  // namespace penumbra::app
