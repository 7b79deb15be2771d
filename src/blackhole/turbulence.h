/// A random field on (ln r, phi) for the turbulence of an accretion flow: log-normal, of mean about 1, correlated over
/// a range of scales and drawn out along trailing spirals, as orbits that are the faster the nearer shear it.
#pragma once

#include <span>
#include <vector>

namespace penumbra::blackhole {

struct TurbulenceOptions {
  double contrast = 0.7;     ///< SD of the logarithm
  double winding = 2;        ///< azimuth by which a structure trails over a factor e in radius
  double persistence = 0.6;  ///< amplitude of each scale over that of the next larger one
  int arms = 3;              ///< structures around the hole at the largest scale; each further scale has twice as many
};

/// A place that glows by itself.
struct HotSpot {
  double log_radius, azimuth, width, brightness;
};

class Turbulence {
 public:
  /// Standard normal numbers that a field of so many arms uses.
  static int numbers_needed(int arms);

  Turbulence(const TurbulenceOptions& options, std::span<const double> normals);

  void add(const HotSpot& spot);

  /// Positive; any azimuth, radii from 1 to 60 (held constant beyond).
  float operator()(float log_radius, float azimuth) const;

 private:
  static constexpr int rows_ = 96, columns_ = 256;
  std::vector<float> field_;  ///< [rows_ + 1, columns_ + 1]: ln r, phi; the last column is the first again
};

}  // namespace penumbra::blackhole
