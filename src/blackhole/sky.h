/// The sky about a black hole in coordinates that follow the shadow's edge: rays are dense where images crowd.
///
/// A place at distance rho in the direction phi from the middle of the shadow has rho = f rho_c(phi), rho_c the edge,
/// and f - 1 = c sinh(s): in s the direct image, the lensed one and the photon ring are about equally wide.
#pragma once

#include <vector>

#include "blackhole/kerr.h"

namespace penumbra::blackhole {

class Sky {
 public:
  /// The grid reaches at least `extent` r_g from the shadow's middle in all directions.
  Sky(double spin, double inclination, double extent);

  int directions() const { return directions_; }
  int rings() const { return rings_; }
  SkyPoint place(int ring, int direction) const;
  double middle() const { return middle_; }  ///< alpha of the shadow's middle; its beta is 0

  /// Bilinear, of values [rings, directions]; x along alpha and y along beta from the shadow's middle, in r_g.
  float interpolate(const std::vector<float>& values, float x, float y) const;

 private:
  static constexpr int directions_ = 128;
  int rings_;
  double middle_;
  std::vector<float> edge_;  ///< rho_c in each direction, and of the first again
};

}  // namespace penumbra::blackhole
