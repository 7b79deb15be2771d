#include "app/finished_run.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/settings.h"
#include "io/file.h"
#include "run/checkpoint.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool says_diverged(const json& summary) { return summary.value("outcome", json()) == json("diverged"); }

/// "step 500 of 2000".
std::string steps_done(const fs::path& run) {
  const auto done = newest_checkpoint(run / "checkpoint").value_or(0);
  auto sampler = Settings::from_file(run / "config.yaml").section("sampler");
  return sampler.has("steps") ? fmt::format("step {} of {}", done, sampler.integer("steps"))
                              : fmt::format("step {}", done);
}

}  // namespace

json summary_of_run(const fs::path& run) {
  const auto path = run / "summary.json";
  auto summary = json::parse(io::read_file(path), nullptr, false);
  if (!summary.is_object()) input_error("{}: expected a JSON object", path.string());
  return summary;
}

void require_ended(const fs::path& run) {
  if (fs::exists(run / "summary.json") && !fs::exists(run / "checkpoint")) return;
  if (!fs::exists(run / "config.yaml") || !fs::exists(run / "provenance.json"))
    input_error("{}: expected the folder of a run that is complete, with config.yaml and summary.json", run.string());
  input_error("{}: the run is not finished ({}); `penumbra sample` with --resume continues it", run.string(),
              steps_done(run));
}

void require_finished(const fs::path& run) {
  require_ended(run);
  const auto summary = summary_of_run(run);
  if (!says_diverged(summary)) return;
  input_error("{}: expected a run that finished; this one diverged at iteration {} and has no images", run.string(),
              summary.value("diverged_at", json("unknown")).dump());
}

bool has_diverged(const fs::path& run) { return says_diverged(summary_of_run(run)); }

}  // namespace penumbra::app
