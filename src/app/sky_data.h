/// What an interferometer measured, beside what a run's samples say of it: a table that the report draws.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "likelihoods/likelihood.h"

namespace penumbra::app {

/// visibilities.csv: time (hours), stations, u, v (wavelengths), |V| and its SD (Jy), and mean and SD of the samples'
/// |V|. `samples` are [N, C, H, W]. Returns source, date and stations; nothing is written, and null returned, for other
/// likelihoods.
nlohmann::json write_sky_data(const std::filesystem::path& folder, const Likelihood& likelihood, const Tensor& samples);

}  // namespace penumbra::app
