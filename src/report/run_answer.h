/// The report's pictures: the answer with its uncertainty, a row through it, single samples.
#pragma once

#include "report/page.h"
#include "report/run_folder.h"

namespace penumbra::report {

void add_answer(Page& page, const RunFolder& run);
void add_profile(Page& page, const RunFolder& run);
void add_samples(Page& page, const RunFolder& run);

}  // namespace penumbra::report
