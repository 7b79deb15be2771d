/// The supplement's convergence plots, and what drives the KL floor.
#pragma once

#include "app/experiments/validation_2d/results.h"
#include "report/chart.h"

namespace penumbra::app::validation_2d {

/// One figure of the supplement: FI and KL of one algorithm along one sweep, mean and min-max band of the posteriors,
/// with the closed form dashed.
struct ConvergenceFigure {
  std::string name;  ///< of its file
  report::Chart fi, kl;
};
std::vector<ConvergenceFigure> convergence_figures(const std::vector<Row>& rows, const Courses& courses);

/// KL of the default configuration taken apart: mode weights and the rest.
report::Chart floor_chart(const std::vector<Row>& rows, const Courses& courses, Discretization algorithm);

/// The share of the chains in the first mode against its exact weight.
report::Chart weights_chart(const Problem& problem, const Courses& courses);

/// Both charts of a figure side by side, as a file.
std::string standalone_svg(const ConvergenceFigure& figure);

}  // namespace penumbra::app::validation_2d
