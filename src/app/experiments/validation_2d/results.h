/// Table 2 as measured, as printed and as predicted, and the checks on it.
#pragma once

#include <map>
#include <vector>

#include "app/experiments/record.h"
#include "app/experiments/text_table.h"
#include "app/experiments/validation_2d/closed_form.h"
#include "app/experiments/validation_2d/simulation.h"

namespace penumbra::app::validation_2d {

/// How far a measured FI may be from the closed form: relative, or absolute where the closed form is below 0.02,
/// since the fit to 1000 samples alone has a Fisher information of about 0.003.
struct Tolerance {
  double relative = 0.10, absolute = 0.004;
  double small = 0.02;

  double at(double fi) const { return fi < small ? absolute : relative * fi; }
};

/// The tolerance belongs to twenty posteriors; with fewer it grows with the mean's sampling error.
Tolerance tolerance(const Effort& effort);

/// A cell pair of Table 2 and its company.
struct Row {
  Discretization algorithm;
  Column column;
  Pair measured;
  double kl_weights = 0;  ///< of the mode weights, at the iteration of the least KL
  Prediction prediction;
  bool agrees = false;  ///< FI with the closed form

  double difference() const { return measured.fi / prediction.fi - 1; }
};

using Courses = std::map<Configuration, Course>;

std::vector<Row> make_rows(const Problem& problem, const Courses& courses, const Tolerance& tolerance);

std::vector<Check> make_checks(const std::vector<Row>& rows, const Courses& courses, const Tolerance& tolerance);

/// Table 2's layout: algorithms and metrics down, the three sweeps across.
TextTable table_2_layout(const std::vector<Row>& rows);
/// A line for every cell pair.
TextTable all_cells(const std::vector<Row>& rows);
/// A line for every configuration and evaluated iteration.
TextTable all_curves(const Courses& courses);

}  // namespace penumbra::app::validation_2d
