/// Tables of the supplement (hyperparameters of CS and MRI, of PnP-ULA); steps from the authors' code (errata E34).
#include "app/presets.h"

#include <fmt/format.h>

#include <vector>

namespace penumbra::app {
namespace {

struct Task {
  std::string name;
  int64_t annealed_steps;  ///< of APMC; the others ran 10,000
  double gamma;
  double gamma_projected;  ///< of PnP-ULA-Cus and -Ori, whose box allows more
  double sigma;            ///< sigma_min of APMC, sigma of PMC and PnP-ULA-Cus
  double alpha_0;
  double zeta;  ///< the tables' q times |A|, by which ours is divided: 1 + sqrt(n/m) of a Gaussian matrix, 1 in MRI
};

const std::vector<Task> tasks{
    {"paper-cs-0.1", 4000, 1e-5, 1e-5, 0.015, 4444, 2.91},
    {"paper-cs-0.3", 3000, 1e-5, 2e-5, 0.009, 12345, 5.65},
    {"paper-mri-8x", 5000, 5e-6, 5e-5, 0.01, 10000, 4.0},
    {"paper-mri-4x", 5000, 5e-6, 5e-5, 0.01, 10000, 6.0},
};

const Task* preset_setting(Settings& sampler) {
  if (!sampler.has("preset")) return nullptr;
  std::vector<std::string> names;
  for (const auto& task : tasks) names.push_back(task.name);
  const auto name = sampler.choice("preset", names);
  for (const auto& task : tasks)
    if (task.name == name) return &task;
  return nullptr;
}

void put(Settings& settings, const std::string& key, double value) {
  settings.set_default(key, fmt::format("{}", value));
}

/// The paper's is geometric; another kind takes what it has in common with that.
void put_schedule(Settings schedule, const Task& task) {
  const auto kind = schedule.text("kind", "geometric");
  if (kind == "constant") return put(schedule, "sigma", task.sigma);
  put(schedule, "sigma_0", 348);
  put(schedule, "sigma_min", task.sigma);
  if (kind == "geometric") put(schedule, "xi", 0.99);
  put(schedule, "alpha_0", task.alpha_0);
}

}  // namespace

void apply_preset(Settings& sampler, const std::string& kind) {
  const auto* task = preset_setting(sampler);
  if (!task) return;
  if (kind == "apmc-pnp" || kind == "apmc-red") {
    put(sampler, "steps", static_cast<double>(task->annealed_steps));
    put(sampler, "step_size", task->gamma);
    put_schedule(sampler.section("schedule"), *task);
  } else if (kind == "pmc-pnp" || kind == "pmc-red") {
    put(sampler, "steps", 10000);
    put(sampler, "step_size", task->gamma);
    put(sampler, "sigma", task->sigma);
  } else if (kind == "pnp-ula") {
    const auto variant = sampler.choice("variant", {"np", "cus", "ori"}, "cus");
    put(sampler, "steps", 10000);
    put(sampler, "step_size", variant == "np" ? task->gamma : task->gamma_projected);
    if (variant != "ori") put(sampler, "sigma", task->sigma);
  } else if (kind == "dps") {
    put(sampler, "steps", 1000);
    put(sampler, "zeta", task->zeta);
  } else {
    sampler.fail("preset", fmt::format("the paper has no values for {}; expected apmc-*, pmc-*, pnp-ula or dps", kind));
  }
}

}  // namespace penumbra::app
