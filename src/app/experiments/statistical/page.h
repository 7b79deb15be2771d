/// report.html of the statistical validation.
#pragma once

#include <string>

#include "app/experiments/statistical/comparison.h"

namespace penumbra::app::statistical {

struct Results {
  Setting setting;
  Laws laws;
  std::vector<Comparison> comparisons;
  std::vector<Check> checks;
  double seconds = 0;
};

std::string page(const Results& results, const ExperimentOptions& options);

}  // namespace penumbra::app::statistical
