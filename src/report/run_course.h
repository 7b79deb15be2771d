/// The report's account of the run: its traces, its diagnostics, its score against the truth, its provenance.
#pragma once

#include "report/page.h"
#include "report/run_folder.h"

namespace penumbra::report {

/// Charts of trace.csv.
void add_traces(Page& page, const RunFolder& run);
/// The verdicts in words and the numbers behind them.
void add_diagnostics(Page& page, const RunFolder& run);
/// metrics.json, where there is one.
void add_metrics(Page& page, const RunFolder& run);
/// How to rerun it, and where the numbers and figures come from.
void add_provenance(Page& page, const RunFolder& run);

/// "diverged at iteration 300", with its level.
Badge outcome_badge(const RunFolder& run);

}  // namespace penumbra::report
