/// penumbra experiment cs, mri, pnp-ula, convergence: Tables 3 to 6 and the convergence curves on our images.
#include "app/experiments/linear/run.h"

namespace penumbra::app {
namespace {

using namespace linear;

std::vector<Task> all_tasks(bool quick) {
  auto tasks = cs_tasks(quick);
  for (auto& task : mri_tasks(quick)) tasks.push_back(std::move(task));
  return tasks;
}

int run_tasks(const char* name, const char* title, const std::vector<Task>& tasks, const ExperimentOptions& options) {
  auto comparison = compare_methods(name, title, tasks, methods, options);
  // A quick run is too short for the paper's claims, and other methods are not what they are about.
  if (!options.quick && options.methods.empty()) comparison.checks = paper_claims(comparison);
  return write(comparison, options);
}

int run_cs(const ExperimentOptions& options) {
  return run_tasks("cs", "Compressed sensing", cs_tasks(options.quick), options);
}

int run_mri(const ExperimentOptions& options) {
  return run_tasks("mri", "Accelerated MRI", mri_tasks(options.quick), options);
}

int run_pnp_ula(const ExperimentOptions& options) {
  return write(compare_methods("pnp-ula", "Variants of PnP-ULA", all_tasks(options.quick), pnp_ula_methods, options),
               options);
}

/// Curves of the mean of 10 samples on two images, as in the supplement; every other number comes along.
int run_convergence(const ExperimentOptions& options) {
  auto few = options;
  if (few.count == 0) few.count = 2;
  if (few.chains == 0 && !few.quick) few.chains = 10;
  return write(compare_methods("convergence", "Speed of convergence", all_tasks(few.quick), pnp_ula_methods, few), few);
}

}  // namespace

extern const ExperimentEntry cs_entry{"cs", "compressed sensing by every method (Tables 3 and 4)", run_cs};
extern const ExperimentEntry mri_entry{"mri", "accelerated MRI by every method (Tables 3 and 4)", run_mri};
extern const ExperimentEntry pnp_ula_entry{"pnp-ula", "the variants of PnP-ULA (Tables 5 and 6)", run_pnp_ula};
extern const ExperimentEntry convergence_entry{
    "convergence", "PSNR along the run of APMC-RED and the variants of PnP-ULA (supplement)", run_convergence};

}  // namespace penumbra::app
