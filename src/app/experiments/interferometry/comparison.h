/// The methods side by side on the skies of an experiment: tables, pictures, page, checks.
#pragma once

#include "app/experiment.h"
#include "app/experiments/interferometry/reconstruction.h"
#include "app/experiments/interferometry/truths.h"
#include "app/experiments/record.h"
#include "app/experiments/text_table.h"

namespace penumbra::app::interferometry {

struct MethodResults {
  std::string method;
  std::vector<Reconstruction> images;  ///< in the order of the truths

  /// Mean over the images that have the number; NaN where none has.
  double average(double Quality::*of) const;
  bool diverged() const;
  double seconds() const;
};

struct Comparison {
  Truths truths;
  std::string prior;  ///< of the samplers that have one
  std::string setup;  ///< the observation, in words
  std::vector<MethodResults> methods;
  std::vector<Check> checks;
};

/// Our own.
bool is_apmc(const std::string& method);

TextTable method_table(const Comparison& comparison);
TextTable image_table(const Comparison& comparison);

/// What the issue asks of APMC: both mean chi^2 in [0.8, 1.3], nearer to the truth than the best of the others, 3 SD
/// hold the truth in nine pixels of ten.
std::vector<Check> claims(const Comparison& comparison);

/// Bytes [3, h, w], one row a sky: the truth, every method's mean, the SD of the last method that has one.
Tensor contact_sheet(const Comparison& comparison);
std::vector<std::string> contact_columns(const Comparison& comparison);

/// All files in the experiment's folder; prints the table.
int write(const Comparison& comparison, const ExperimentOptions& options);

}  // namespace penumbra::app::interferometry
