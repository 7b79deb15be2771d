/// What a checkpoint says of itself: enough to build the network, to refuse a wrong use, and to credit its data.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "networks/parameterisation.h"

namespace penumbra {

/// What a header or a configuration may state: beyond these float32 overflows on the way to a score.
inline constexpr double smallest_sigma = 1e-9, largest_sigma = 1e9;
inline constexpr double largest_pixel = 1e6, smallest_pixel_span = 1e-6;
inline constexpr int64_t largest_extent = 65536;

/// The standard deviation of every pixel over the images that a network knows, in its own pixel range.
struct PixelSpread {
  static constexpr int64_t most = 64;  ///< rows and columns: larger images are stored on a coarser grid
  Shape shape;                         ///< [channels, rows, columns]
  std::vector<double> sd;              ///< row by row
  std::string from;                    ///< "4000 training images"

  nlohmann::json to_json() const;
};

struct NetworkHeader {
  std::string name;
  nlohmann::json architecture;
  Parameterisation parameterisation;
  double sigma_low = 0, sigma_high = 0;   ///< noise levels at which it was trained, in its own pixel range; a
                                          ///< network that reconstructs has none
  double pixel_low = -1, pixel_high = 1;  ///< what the pixels of its images span
  Shape image_shape;                      ///< [channels, height, width]
  std::optional<PixelSpread> pixel_sd;    ///< files that were written before there was such a thing have none
  nlohmann::json record = nlohmann::json::object();  ///< data, licence, training: for people

  /// Whether it gives an image from data: no prior.
  bool reconstructs() const { return parameterisation.kind == Parameterisation::Kind::reconstruction; }

  /// Throws InputError, with `file` for the file, where a field is missing or wrong; with `sd_file`, where pixel_sd
  /// came from another one.
  static NetworkHeader from_json(const nlohmann::json& json, const std::string& file, const std::string& sd_file = "");
  nlohmann::json to_json() const;
};

}  // namespace penumbra
