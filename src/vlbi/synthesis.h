/// Observations that were never made: where the turning earth puts the stations' baselines, what they would see of an
/// image, and with what noise and errors.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/sky_image.h"
#include "vlbi/dft.h"
#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// A source as the stations see it. Coordinates are taken as they are, J2000: the files of the Event Horizon Telescope
/// are made so, and precession to the date would move their baselines by millions of wavelengths.
class Direction {
 public:
  Direction(double right_ascension_hours, double declination_degrees);

  /// u and v in metres of the baseline from `second` to `first`.
  std::array<double, 2> baseline(const Station& first, const Station& second, double sidereal_degrees) const;
  /// Degrees above the plane across the line to the earth's centre.
  double elevation(const Station& station, double sidereal_degrees) const;

 private:
  std::array<double, 3> turned(const Station& station, double sidereal_degrees) const;

  double right_ascension_, declination_;  // radians
};

/// What the hours of a plan count.
enum class Clock {
  utc,       ///< since midnight of its day
  sidereal,  ///< Greenwich mean sidereal time, as simulations have it that need no day
};

struct ObservationPlan {
  std::vector<Station> stations;
  std::string source;
  double right_ascension = 0, declination = 0;  ///< hours, degrees
  double frequency = 230e9, bandwidth = 4e9;    ///< Hz
  int64_t mjd = 57849;
  Clock clock = Clock::utc;
  double start = 0, stop = 24;                    ///< hours; the last snapshot begins before `stop`
  double interval = 600, integration = 10;        ///< s, from snapshot to snapshot and of each
  double min_elevation = 10, max_elevation = 85;  ///< degrees; stations outside do not observe
  double opacity = 0;                             ///< of the air at the zenith, for every station
  int hands = 2;                                  ///< polarisations whose mean Stokes I is
};

/// Every baseline of the stations that see the source, with its thermal noise's SD and the value 0. Throws InputError,
/// with `name` for the plan, where no two stations see it together.
Observation plan_observation(const ObservationPlan& plan, const std::string& name);

/// V(u, v) of an image whose pixels' side is known, in the convention of Visibility.
void observe_image(Observation& observation, const io::SkyImage& image, Pulse pulse = Pulse::triangle);

/// What a station does to V, besides noise: V_ab becomes sqrt(G_a G_b) exp(i (phi_b - phi_a)) V_ab, and its SD is
/// multiplied as |V| is. G = |(1 + gain_sd z) (1 + gain_sd_per_time z_t)|, z standard normal.
struct Corruption {
  bool thermal_noise = true;    ///< with the observation's SDs, before the stations' errors
  double gain_sd = 0;           ///< one draw a station
  double gain_sd_per_time = 0;  ///< one draw a station and time
  bool random_phases = false;   ///< phi is uniform for every station and time; else 0
};
void corrupt(Observation& observation, const Corruption& corruption, uint64_t seed);

}  // namespace penumbra::vlbi
