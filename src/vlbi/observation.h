/// A radio interferometer's measurement: who looked when, and the complex visibilities of every pair of stations.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penumbra::vlbi {

struct Station {
  std::string name;
  std::array<double, 3> position{};  ///< metres, geocentric, earth-fixed
  double sefd_right = 0;             ///< Jy; 0 where a file does not say
  double sefd_left = 0;
};

/// V(u, v) = sum over pixels of I exp(+2 pi i (u X + v Y)), X to the East, Y to the North, (u, v) = (r_first -
/// r_second)/lambda.
struct Visibility {
  double time = 0;     ///< hours UTC since midnight of the observation's day
  double seconds = 0;  ///< integration time
  int first = 0;       ///< indices into Observation::stations, first < second
  int second = 0;
  double u = 0;  ///< wavelengths
  double v = 0;
  std::complex<double> value;  ///< Stokes I, Jy
  double sd = 0;               ///< of the real and of the imaginary part each, Jy
};

/// How many visibilities the steps of a preparation took away (vlbi/averaging.h), in their order.
struct PreparationCounts {
  int64_t read = 0;  ///< before the first step
  int64_t flagged = 0;
  int64_t averages = 0;  ///< what the rest is after averaging; the cuts below count these
  int64_t below_min_baseline = 0;
  int64_t above_max_baseline = 0;
  int64_t below_min_snr = 0;
};

struct Observation {
  std::string name;  ///< what messages call it: the file's path, or empty where there is none
  std::string source;
  double right_ascension = 0;  ///< hours, J2000
  double declination = 0;      ///< degrees, J2000
  double frequency = 0;        ///< Hz
  double bandwidth = 0;        ///< Hz
  int64_t mjd = 0;             ///< the day that `time` counts from
  std::vector<Station> stations;
  std::vector<Visibility> visibilities;  ///< by time, then first, then second station
  int64_t dropped = 0;                   ///< rows of the file that were flagged or held no finite numbers
  int64_t malformed = 0;   ///< of these, those whose baseline, u, v, time or integration time is no number
  int64_t weightless = 0;  ///< of these, the two stations' in which no hand has a finite value with a positive weight
  std::optional<PreparationCounts> preparation = {};  ///< none: they are taken as they are
};

}  // namespace penumbra::vlbi
