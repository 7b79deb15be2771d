/// Finished simulations in a folder, so that an interrupted calibration goes on: one file a batch.
#pragma once

#include <filesystem>
#include <optional>

#include "app/calibration/simulation.h"

namespace penumbra::app::calibration {

struct Kept {
  std::vector<Simulation> simulations;
  double seconds = 0;
};

void keep(const std::filesystem::path& folder, const Kept& batch);

/// The batch of `count` simulations from `first` on with so many statistics; nothing where it is not there or damaged.
std::optional<Kept> find_kept(const std::filesystem::path& folder, int64_t first, int64_t count, int64_t statistics);

}  // namespace penumbra::app::calibration
