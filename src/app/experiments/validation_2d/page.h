/// report.html of the 2-D validation.
#pragma once

#include <string>

#include "app/experiments/validation_2d/figures.h"

namespace penumbra::app::validation_2d {

struct Results {
  Problem problem;
  Effort effort;
  Tolerance tolerance;
  Courses courses;
  std::vector<Row> rows;
  std::vector<Check> checks;
  double seconds = 0;
};

std::string page(const Results& results, const ExperimentOptions& options);

}  // namespace penumbra::app::validation_2d
