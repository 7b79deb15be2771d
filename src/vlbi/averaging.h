/// What is done to visibilities before an image is made of them: flags, averages over scans, cuts, and noise for what
/// the calibration leaves.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/settings.h"
#include "vlbi/flagging.h"
#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// The time that a baseline's average over a scan gets. Closures are formed between rows of one time.
enum class ScanTime {
  harmonised,  ///< the scan's first: all its baselines have the same
  ehtim,       ///< the baseline's own first: where a station is late, closures are lost
};

/// In this order. A step whose number is zero is left out.
struct Preparation {
  Flags flags = {};
  bool average_scans = true;
  ScanTime scan_time = ScanTime::harmonised;
  double scan_gap = 59.4;          ///< s without any visibility after which another scan begins
  double min_baseline = 1e8;       ///< wavelengths; shorter baselines see what is around the image too
  double max_baseline = 0;         ///< wavelengths; longer baselines see what is finer than the image's pixels
  double systematic_noise = 0.02;  ///< of |V|, added in quadrature to the SD
  double min_snr = 3;              ///< |V| / SD, with that noise, must be larger
};

/// `flag` with the keys of vlbi/flagging.h, `average: scan` or `none`, `scan_time: harmonised` or `ehtim`, and the
/// numbers by their names.
Preparation preparation_setting(Settings& settings);

/// First and last time, in hours, of every scan.
std::vector<std::pair<double, double>> scan_table(const Observation& observation, double gap_seconds);

/// With the counts of what each step took away. Throws InputError, naming the step, where nothing is left; `name`
/// stands for the data in messages.
Observation prepare(const Observation& observation, const Preparation& preparation, const std::string& name);

}  // namespace penumbra::vlbi
