/// penumbra evaluate RUN --truth x: compares a run with the truth; writes metrics.json and the report again.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/evaluate_run.h"
#include "app/finished_run.h"
#include "app/run_sky.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

struct Options {
  std::filesystem::path run, truth;
  std::vector<double> png_range{-1, 1};
  bool json = false;
};

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("RUN", options->run, "folder of the run")->required();
  command.add_option("--truth", options->truth, "the true image: NPY, PNG, JPEG or FITS")->required();
  command.add_option("--png-range", options->png_range, "values of a PNG's black and white")->expected(2);
  command.add_flag("--json", options->json, "print JSON");
  return [options] {
    require_finished(options->run);
    const auto shape = io::read_npy(options->run / "mean.npy").sizes().vec();
    const auto truth =
        read_run_truth(options->run, options->truth, shape, options->png_range.at(0), options->png_range.at(1));
    const auto metrics = evaluate_run(options->run, truth, options->truth.string());
    if (options->json)
      fmt::print("{}\n", metrics.dump(2));
    else
      print_metrics(metrics);
    return success;
  };
}

}  // namespace

extern const CommandEntry evaluate{"evaluate", "compare a run with the truth", declare};

}  // namespace penumbra::app
