/// penumbra report RUN: (re)writes RUN/report.html.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/finished_run.h"
#include "report/run_report.h"
#include "report/training_report.h"

namespace penumbra::app {
namespace {

std::function<int()> declare(CLI::App& command) {
  auto run = std::make_shared<std::filesystem::path>();
  command.add_option("RUN", *run, "folder of the run")->required();
  return [run] {
    // Only a training run has a history.
    if (std::filesystem::exists(*run / "history.csv")) {
      penumbra::report::write_training_report(*run);
    } else {
      require_ended(*run);
      penumbra::report::write_run_report(*run);
    }
    fmt::print("{}\n", (*run / "report.html").string());
    return success;
  };
}

}  // namespace

extern const CommandEntry report{"report", "write a run's report again", declare};

}  // namespace penumbra::app
