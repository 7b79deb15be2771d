/// A finished run of an interferometer's data among images of the sky: its field and its unit of brightness.
#pragma once

#include <filesystem>
#include <optional>

#include "core/tensor.h"

namespace penumbra::app {

struct RunSky {
  double fov_uas = 0;      ///< width of the run's images
  double jy_per_unit = 0;  ///< Jy of a pixel with the value black + 1
  double black = 0;
  std::filesystem::path data;  ///< its visibilities
};

/// By the run's config.yaml; nothing of other runs.
std::optional<RunSky> sky_of_run(const std::filesystem::path& run);

/// The truth for `penumbra evaluate`, as the run has images of this shape [C, H, W]: what an image of the sky says of
/// its unit and pixels counts where the run is an interferometer's. Pictures have values from `low` to `high`.
Tensor read_run_truth(const std::filesystem::path& run, const std::filesystem::path& truth, const Shape& shape,
                      double low, double high);

}  // namespace penumbra::app
