/// Closure quantities: products of visibilities in which the errors of the single stations cancel.
///
/// Around a triangle (a, b, c) the phases of V_ab V_bc V_ca add to one that no station's phase error changes; over a
/// quadrangle (a, b, c, d) the gains leave |V_ab| |V_cd| / (|V_ad| |V_bc|) as it was. V_ca is conj(V_ac); the paper
/// prints V_ac, with which nothing cancels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vlbi/observation.h"

namespace penumbra::vlbi {

/// A sum of sign * arg V (three legs) or sign * log |V| (four) over rows of Observation::visibilities of one time.
template <size_t legs>
struct Closure {
  std::array<int64_t, legs> rows{};
  std::array<int, legs> signs{};
  std::array<int, legs> stations{};
  std::array<double, legs> leg_sds{};  ///< sd / |V| of every leg: of its phase, and of its log amplitude
  double value = 0;                    ///< radians in (-pi, pi], or a natural logarithm
  double sd = 0;                       ///< to first order: the root of the legs' variances
};
/// Legs ab, bc, ca.
using ClosurePhase = Closure<3>;
/// Legs ab, cd, ad, bc; signs +, +, -, -.
using LogClosureAmplitude = Closure<4>;

/// Which closures of a time are taken.
///
/// `ehtim_min` and `ehtim_max` are ehtim's: all triangles with the first station, or all there are; where a baseline is
/// missing the former lose independent data. `complete` takes the closures in the order of their SD and keeps each that
/// the ones before do not imply, until none is left: as many as are independent, except that a cycle of four or more
/// baselines which no triangles fill has no closure phase here.
enum class ClosureRule { ehtim_min, ehtim_max, complete };

struct ClosureOptions {
  ClosureRule rule = ClosureRule::complete;
  /// Takes the noise's part out of the amplitudes in log closure amplitudes and their SDs, as ehtim does. It is
  /// singular where |V| is little above its SD.
  bool debias = false;
};

struct Closures {
  std::vector<ClosurePhase> phases;
  std::vector<LogClosureAmplitude> amplitudes;
};

/// By time, as the rows are. Rows belong together where their times are equal; a visibility of zero closes nothing.
/// Throws InputError on a baseline that comes twice at one time, and on more than 40 stations at one time.
Closures form_closures(const Observation& observation, const ClosureOptions& options = {});

/// |V| without the noise's part, sqrt(|V|^2 - sd^2); `floor` where the noise is larger.
double debiased(double amplitude, double sd, double floor);

/// How many closures of each kind are independent, summed over the times: those of the graph of baselines,
/// baselines - stations + components, and for amplitudes + components without an odd cycle.
struct ClosureCounts {
  int64_t phases = 0, amplitudes = 0;
};
ClosureCounts independent_closures(const Observation& observation);

}  // namespace penumbra::vlbi
