/// penumbra experiment varnet: APMC beside networks trained for one acceleration (Table VarNet of the supplement).
#include <fmt/format.h>

#include <limits>

#include "app/experiments/linear/run.h"

namespace penumbra::app {
namespace linear {
namespace {

/// The mean PSNR of a method on a task; NaN, with which no claim holds, where it diverged.
double psnr(const TaskResults& task, const std::string& method) {
  for (const auto& r : task.reconstructions)
    if (r.method == method && !r.diverged) return r.average(&Quality::psnr);
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<Check> varnet_claims(const Comparison& comparison) {
  constexpr double comparable = 1, drop = 2;  // dB; in the paper APMC is within 0.15 of VarNet, and the drop is 4.3
  std::vector<Check> checks;
  for (const auto& task : comparison.tasks) {
    const bool hard = task.problem.task.key == "mri-8x";
    const std::string matched = hard ? "VarNet-8x" : "VarNet-4x", other = hard ? "VarNet-4x" : "VarNet-8x";
    const double own = psnr(task, matched), strange = psnr(task, other);
    const auto detail = fmt::format("{:.2f} dB against {:.2f} ({})", strange, own, matched);
    if (hard)
      checks.push_back(check(task,
                             fmt::format("{}, trained for more data, is {} dB or more below {}", other, drop, matched),
                             strange <= own - drop, detail));
    else
      checks.push_back(
          check(task, fmt::format("{}, trained for less data, is below {}", other, matched), strange < own, detail));
    for (const auto* method : {"APMC-RED", "APMC-PnP"}) {
      const double found = psnr(task, method);
      checks.push_back(check(task, fmt::format("{} is above {} or within {} dB of it", method, matched, comparable),
                             found >= own - comparable,
                             fmt::format("{:.2f} dB against {:.2f} ({})", found, own, matched)));
    }
  }
  return checks;
}

}  // namespace linear

namespace {

int run_varnet(const ExperimentOptions& options) {
  auto comparison = linear::compare_methods("varnet", "Comparison with VarNet", linear::mri_tasks(options.quick),
                                            linear::varnet_methods, options);
  // A quick run is too short for claims, and its networks too small; other methods are not what they are about.
  if (!options.quick && options.methods.empty()) comparison.checks = linear::varnet_claims(comparison);
  return linear::write(comparison, options);
}

}  // namespace

extern const ExperimentEntry varnet_entry{
    "varnet", "accelerated MRI by APMC and by networks trained for one acceleration (supplement)", run_varnet};

}  // namespace penumbra::app
