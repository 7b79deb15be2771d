/// What a calibration leaves in its folder: calibration.json, ranks.csv, report.html.
#pragma once

#include "app/calibration/calibrate_run.h"
#include "app/calibration/kept.h"

namespace penumbra::app::calibration {

struct Findings {
  std::vector<std::string> names;  ///< of the statistics
  Kept all;
  diagnostics::Calibration calibration;
  diagnostics::CalibrationVerdict verdict;
};

void write_findings(const std::filesystem::path& folder, const Calibrated& calibrated, const Findings& findings);

/// report.html.
std::string page(const Calibrated& calibrated, const Findings& findings);

}  // namespace penumbra::app::calibration
