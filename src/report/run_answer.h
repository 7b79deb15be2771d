/// The report's pictures: the answer with its uncertainty, a row through it, single samples.
#pragma once

#include "report/page.h"
#include "report/run_folder.h"

namespace penumbra::report {

void add_answer(Page& page, const RunFolder& run);
/// How much of the prior's spread the data removed; why there is no such map, where there is none.
void add_data_share(Page& page, const RunFolder& run);
/// The moments extrapolated to step size 0, where there are any.
void add_extrapolation(Page& page, const RunFolder& run);
/// What an interferometer measured, where it was one.
void add_data(Page& page, const RunFolder& run);
void add_profile(Page& page, const RunFolder& run);
void add_samples(Page& page, const RunFolder& run);

/// Whether its images are draws of a law, or, of deterministic methods, one image from every start.
bool has_spread(const RunFolder& run);

/// Intensities of the sky are shown as light, everything else as radiographs are.
Colormap intensity_map(const RunFolder& run);
/// Microarcseconds; 0 where the image is not one of the sky or the run does not say.
double sky_width(const RunFolder& run);

}  // namespace penumbra::report
