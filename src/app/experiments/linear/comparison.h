/// The methods side by side on the tasks of an experiment: the paper's tables with ours, figures, page, checks.
#pragma once

#include "app/experiment.h"
#include "app/experiments/linear/reconstruction.h"
#include "app/experiments/record.h"
#include "app/experiments/text_table.h"

namespace penumbra::app::linear {

struct TaskResults {
  Problem problem;
  std::vector<Reconstruction> reconstructions;  ///< in the order of the table
};

struct Comparison {
  std::string experiment, title;
  std::vector<TaskResults> tasks;
  std::vector<Check> checks;
  double seconds = 0;
};

/// PSNR and MSE, the layout of Table 3; beside each PSNR the paper's.
TextTable reconstruction_table(const Comparison& comparison);
/// NLL, absolute error, SD and 3-SD coverage, the layout of Table 4; beside each NLL the paper's.
TextTable uncertainty_table(const Comparison& comparison);
/// Every number of every image.
TextTable image_table(const Comparison& comparison);
/// Method, task, settings, steps, chains, seconds.
TextTable settings_table(const Comparison& comparison);

/// A claim about one task.
Check check(const TaskResults& task, const std::string& claim, bool passed, const std::string& detail);
/// What the paper claims of APMC, on our images.
std::vector<Check> paper_claims(const Comparison& comparison);
/// What it claims of APMC beside VarNet.
std::vector<Check> varnet_claims(const Comparison& comparison);

/// Bytes [3, h, w]: truth, adjoint and every method's mean, over them a zoom; and error, SD, pixels beyond 3 SD in red.
Tensor reconstruction_figure(const TaskResults& task, int64_t image);
Tensor uncertainty_figure(const TaskResults& task, int64_t image);
report::Chart course_chart(const TaskResults& task);

/// Tables, figures, record and report.html in the experiment's folder; prints the tables.
int write(const Comparison& comparison, const ExperimentOptions& options);

}  // namespace penumbra::app::linear
