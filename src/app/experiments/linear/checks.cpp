#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "app/experiments/linear/comparison.h"

namespace penumbra::app::linear {
namespace {

bool ours(const Reconstruction& r) { return r.method == "APMC-PnP" || r.method == "APMC-RED"; }

struct Best {
  std::string method = "none";
  double value = 0;
};

/// The best of those that `take` names; `sign` +1: the largest is best.
template <class Take>
Best best(const TaskResults& task, double Quality::*of, double sign, Take take) {
  Best found{"none", -sign * std::numeric_limits<double>::infinity()};
  for (const auto& r : task.reconstructions)
    if (take(r) && !r.diverged && sign * (r.average(of) - found.value) > 0) found = {r.method, r.average(of)};
  return found;
}

}  // namespace

Check check(const TaskResults& task, const std::string& claim, bool passed, const std::string& detail) {
  return {task.problem.task.label + ": " + claim, passed, detail};
}

std::vector<Check> paper_claims(const Comparison& comparison) {
  std::vector<Check> checks;
  for (const auto& task : comparison.tasks) {
    const bool hard = task.problem.task.key == "cs-0.1" || task.problem.task.key == "mri-8x";
    const auto map = best(task, &Quality::psnr, 1, [](const Reconstruction& r) { return !r.random; });
    const auto sampling = [](const Reconstruction& r) { return r.random && !ours(r); };
    const auto psnr = best(task, &Quality::psnr, 1, sampling), nll = best(task, &Quality::nll, -1, sampling);
    for (const auto& r : task.reconstructions) {
      if (!ours(r)) continue;
      const double own_psnr = r.average(&Quality::psnr), own_nll = r.average(&Quality::nll);
      const double margin = hard ? 2 : 0;
      checks.push_back(check(task, fmt::format("{} beats the best MAP method by {} dB or more", r.method, margin),
                             own_psnr >= map.value + margin,
                             fmt::format("{:.2f} dB against {:.2f} ({})", own_psnr, map.value, map.method)));
      checks.push_back(check(task, r.method + " is at least equal in PSNR to every sampling baseline",
                             own_psnr >= psnr.value,
                             fmt::format("{:.2f} dB against {:.2f} ({})", own_psnr, psnr.value, psnr.method)));
      checks.push_back(check(task, r.method + " leads every sampling baseline in NLL", own_nll < nll.value,
                             fmt::format("{:.3f} against {:.3f} ({})", own_nll, nll.value, nll.method)));
      checks.push_back(check(task, r.method + " covers at least 95 % of the pixels by 3 SD",
                             r.average(&Quality::coverage) >= 0.95,
                             fmt::format("{:.1f} %", 100 * r.average(&Quality::coverage))));
      if (task.problem.task.key != "cs-0.1") continue;
      const auto still = best(task, &Quality::psnr, 1, [](const Reconstruction& other) {
        return other.method == "PMC-PnP" || other.method == "PMC-RED";
      });
      checks.push_back(check(task, "PMC without annealing is far from converged: 5 dB or more below " + r.method,
                             still.value <= own_psnr - 5,
                             fmt::format("{:.2f} dB against {:.2f}", still.value, own_psnr)));
    }
  }
  return checks;
}

}  // namespace penumbra::app::linear
