/// The report on the samples as a crowd: their modes, a map of them, the rings that they show.
#pragma once

#include "report/page.h"
#include "report/run_folder.h"

namespace penumbra::report {

/// Each does nothing where the run has no such files.
void add_modes(Page& page, const RunFolder& run);
void add_ring(Page& page, const RunFolder& run);

}  // namespace penumbra::report
