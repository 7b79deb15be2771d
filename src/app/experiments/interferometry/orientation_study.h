/// The samples of one method on the bimodal problem: which way round they are, how well they fit.
#pragma once

#include <nlohmann/json.hpp>

#include "app/experiments/interferometry/orientation.h"
#include "app/experiments/interferometry/reconstruction.h"
#include "app/experiments/record.h"
#include "app/experiments/text_table.h"

namespace penumbra::app::interferometry {

struct OrientationStudy {
  std::string method, sampler;
  Tensor samples;  ///< [chains, 1, H, W]
  bool diverged = false;
  std::vector<double> leads;          ///< see orientations()
  Tensor chi2_phase, chi2_amplitude;  ///< [chains]
  nlohmann::json modes;               ///< modes.json, the map among it
  double seconds = 0;

  OrientationShares all() const { return shares(leads); }
  /// Of those whose chi^2 of both kinds is from 0.7 to 1.3.
  OrientationShares well_fitting() const;
};

/// Fills in what the samples say, and writes the modes' files to `folder`.
void study(OrientationStudy& of, const SkyCase& sky, const std::filesystem::path& folder, uint64_t seed);

TextTable orientation_table(const std::vector<OrientationStudy>& studies);

/// T3: of a hundred samples at least five each way fit. A reproduction of the paper's claim, not of the posterior.
Check t3(const OrientationStudy& study);

/// The map with the orientations, and how often which chi^2.
report::Chart map_chart(const OrientationStudy& study);
report::Chart chi2_chart(const OrientationStudy& study);
/// Means of the samples either way, [1, H, W], moved onto one another; undefined where there is none.
Tensor mean_of(const OrientationStudy& study, bool turned);

}  // namespace penumbra::app::interferometry
