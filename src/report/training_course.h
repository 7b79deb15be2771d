/// The training report's account of the numbers: how the losses fell, at which noise levels, and how fast it went.
#pragma once

#include "report/page.h"
#include "report/training_folder.h"

namespace penumbra::report {

/// Charts of history.csv.
void add_history(Page& page, const TrainingFolder& run);

/// validation.csv: a curve and a table row for each range of noise levels.
void add_validation(Page& page, const TrainingFolder& run);

/// What the validation says about the run in a few words, with an explanation of each.
std::vector<std::pair<Badge, std::string>> validation_findings(const TrainingFolder& run);

/// Steps along a chart, in thousands or millions where there are many: long numbers would run into one another.
class StepAxis {
 public:
  explicit StepAxis(const std::vector<double>& steps);
  Axis axis() const;
  std::vector<double> operator()(std::vector<double> steps) const;

 private:
  double unit_ = 1;
};

/// Where values of neighbouring steps lie.
struct Smoothed {
  std::vector<double> step, middle, low, high;  ///< median and the 10 and 90 % quantiles
};

/// In at most so many groups of neighbours; values that are not finite are left out.
Smoothed smooth(const std::vector<double>& step, const std::vector<double>& value, size_t groups);

}  // namespace penumbra::report
