/// A run folder made up for the report's tests, with every part that a real one can have.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

#include "core/tensor.h"

namespace penumbra::test {

struct SyntheticRun {
  Shape shape{1, 48, 48};
  int64_t chains = 16;
  bool evaluated = true;  ///< truth.npy, metrics.json and inputs/observation.npy are there
  std::string config = "prior:\n  kind: gaussian_mixture\nlikelihood:\n  kind: gaussian\nseed: 7\n";
};

/// summary.json with every field of the format.
nlohmann::json synthetic_summary();

/// A new folder in scratch().
std::filesystem::path write_synthetic_run(const SyntheticRun& options = {});

}  // namespace penumbra::test
