/// Maps that carry one mode of a posterior onto another: x -> c2 + s (x - c1), s a number for each pixel.
///
/// Any map gives the right odds; the nearer the moved samples come to the other mode, the fewer are needed. Centres
/// that are means of n samples of n' each are off by d (1/n + 1/n') nats in d pixels, which for images is more than any
/// sampling can mend. So the centres are the summits of the modes, found by climbing along the score from the means:
/// for Gaussian modes they are the means without the sampling error.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "theory/segment_work.h"

namespace penumbra::theory {

/// What is known of a mode from its samples.
struct ModeSamples {
  Tensor x;         ///< [n, ...] float64
  Tensor mean, sd;  ///< [...]
  Tensor summit;    ///< undefined where the climb did not stay in the mode
  int64_t evaluations = 0;

  /// sqrt(tr C): how far a sample is from the mean.
  double reach() const;
};

/// Mean, SD and summit; n >= 2.
ModeSamples describe_samples(const Tensor& x, const ScoreField& score);

/// Whether both climbs ended at one summit: clustering then parted what is one mode.
bool same_summit(const ModeSamples& a, const ModeSamples& b);

/// The samples of two such as one.
ModeSamples joined(const ModeSamples& a, const ModeSamples& b);

enum class MapKind {
  summits,  ///< translation from summit to summit
  means,    ///< translation from mean to mean, each sample left out of the mean that it is moved from
  scaling,  ///< about the same centres, with a scale for each pixel
  turn,     ///< a symmetry that the posterior nearly has, told by who knows the problem
};

/// A linear map that keeps volumes and is its own inverse, of each row: for images a half turn, which closure
/// amplitudes do not see.
using Turn = std::function<Tensor(const Tensor& x)>;

std::string name(MapKind kind);

struct ModeMap {
  MapKind kind = MapKind::summits;
  Tensor first, second;                       ///< centres
  Tensor scale;                               ///< s
  int64_t first_count = 0, second_count = 0;  ///< samples in a mean that is a centre; 0: it is a summit
  Turn turn = {};                             ///< takes the place of all of these where there is one

  double log_volume() const;               ///< log |det T'|
  Tensor forward(const Tensor& x) const;   ///< of samples of the first mode
  Tensor backward(const Tensor& x) const;  ///< of samples of the second
};

/// Nothing where the kind makes no sense: summits that were not found, scales no more different than sampling makes
/// them, a turn that is not known.
std::optional<ModeMap> make_map(MapKind kind, const ModeSamples& first, const ModeSamples& second,
                                const Turn& turn = {});

}  // namespace penumbra::theory
