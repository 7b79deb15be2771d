/// What the data decided: the share of the prior's SD that they removed, 1 - SD of the samples / SD of the prior, pixel
/// by pixel. 1: the data alone fix the pixel; 0: they say nothing about it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "app/wiring.h"
#include "priors/pixel_sd.h"

namespace penumbra::app {

/// Where the plan says; nothing, and `why_not` says the reason, where there is no such map.
std::optional<PriorSd> find_prior_sd(const Problem& problem, std::string& why_not);

struct DataShare {
  /// [image] in [0, 1]. 0 where the samples stray further than the prior, by Monte Carlo error or because the data
  /// contradict it; NaN where the prior does not stray at all.
  Tensor share;
  double median = 0;
  double wider = 0;  ///< share of the pixels whose SD is above the prior's
};

/// `sigma`: the noise that the samples still carry, and so the prior that they are drawn under.
DataShare data_share(const Tensor& posterior_sd, const Tensor& prior_sd, double sigma);

/// Writes prior_sd.npy and data_share.npy beside sd.npy; returns `data_share` of summary.json.
nlohmann::json write_data_share(const std::filesystem::path& folder, const Problem& problem, double sigma);

}  // namespace penumbra::app
