/// A small observation that no file is needed for.
#pragma once

#include <cmath>

#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// Four stations, three scans of three times 10 s apart; numbers that repeat nowhere.
inline Observation example_observation() {
  Observation observation;
  observation.source = "M87";
  observation.right_ascension = 12.513728717168174;
  observation.declination = 12.39112323919932;
  observation.frequency = 227070703125;
  observation.bandwidth = 1856e6;
  observation.mjd = 57849;
  observation.stations = {{"AA", {2225060.8136, -5440059.59994, -2481681.15054}, 82, 82},
                          {"AZ", {-1828796.2, -5054406.8, 3427865.2}, 14400, 14400},
                          {"LM", {-768715.632, -5988507.072, 2063354.852}, 3600, 3600},
                          {"PV", {5088967.74544, -301681.18586, 3825012.20561}, 3600, 3600}};
  double k = 0;
  for (int scan = 0; scan < 3; ++scan)
    for (int sample = 0; sample < 3; ++sample)
      for (int first = 0; first < 4; ++first)
        for (int second = first + 1; second < 4; ++second) {
          ++k;
          observation.visibilities.push_back({2 + 0.3 * scan + sample / 360.0, 10, first, second,
                                              3e9 * std::sin(1.1 * k), 4e9 * std::cos(0.7 * k),
                                              std::polar(0.5 + 0.3 * std::sin(k), 2.3 * k), 0.01 + 0.001 * first});
        }
  return observation;
}

}  // namespace penumbra::vlbi
