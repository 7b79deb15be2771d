/// How far the earth has turned.
#pragma once

#include <cmath>

namespace penumbra::vlbi {

inline constexpr double mjd_zero = 2400000.5;  ///< as a Julian date

/// Greenwich mean sidereal time in degrees, 0 to 360 (IAU 1982); UTC for UT1 is good to a second of time.
inline double sidereal_degrees(double julian_date) {
  const double days = julian_date - 2451545, T = days / 36525;
  const double angle = 280.46061837 + 360.98564736629 * days + 0.000387933 * T * T - T * T * T / 38710000;
  return angle - 360 * std::floor(angle / 360);
}

}  // namespace penumbra::vlbi
