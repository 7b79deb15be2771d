/// The weights of a posterior's modes, from samples of each and the posterior's score alone (docs/mode-weights.md).
///
/// Annealed chains find modes but come to them as often as the annealing leads them there, whatever the posterior says.
/// Samples of one mode are moved onto another, the work is integrated along the way, and Bennett's acceptance ratio
/// turns the works of both directions into the odds.
#pragma once

#include <string>
#include <vector>

#include "theory/bennett.h"
#include "theory/mode_map.h"
#include "theory/relaxation.h"

namespace penumbra::theory {

/// Odds beyond any of these are not trusted.
struct OddsLimits {
  double error = 0.5;       ///< nats, of the log-odds: a weight near 1/2 is then known to 0.12
  double effective = 5;     ///< samples that decide on the worse side; with fewer their error is not known either
  double gap = 20;          ///< nats: hundreds of samples then hold none of the other mode's
  double quadrature = 0.1;  ///< nats, mean over the works: small beside `error`
  double loop = 0.5;        ///< nats, RMS of closed loops: what going another way would change
};

/// log pi = log p - energy up to a constant, where the energy's values are known: only log p has to be integrated. Data
/// may bend the energy between modes more than any rule can follow (closures, where a visibility passes 0).
struct SplitScore {
  ScoreField prior = {};                               ///< grad log p; empty: there is no such parting
  std::function<Tensor(const Tensor& x)> energy = {};  ///< of each row
};

struct OddsOptions {
  int64_t samples = 100;  ///< of each mode whose works are taken
  int64_t loops = 16;
  int64_t relaxation = 100;  ///< Langevin steps of the samples beforehand; 0: none
  uint64_t seed = 0;
  Turn turn = {};         ///< tried as a map where there is one
  SplitScore split = {};  ///< for the works, where there is one
  WorkOptions work = {};
  OddsLimits limits = {};
};

/// One mode against the one of most samples.
struct PairOdds {
  int64_t mode = 0;
  MapKind map = MapKind::summits;
  Bennett bennett;        ///< log(Z of the mode / Z of the reference)
  int64_t works = 0;      ///< of both directions together
  double quadrature = 0;  ///< mean of the works' estimated errors
  double loop_rms = 0;    ///< of x1 -> T x1 -> x2 -> T^-1 x2 -> x1, which is 0 for a gradient
  std::string doubt;      ///< why it is not trusted; empty: it is
};

struct ModeOdds {
  int64_t reference = 0;
  /// For each mode the first one with the same summit, itself where there is none: those are one mode, which shares its
  /// weight among them by their samples.
  std::vector<int64_t> same_as;
  std::vector<PairOdds> pairs;               ///< of all modes but the reference and those that are another
  std::vector<double> log_odds;              ///< of each mode against the reference
  std::vector<double> weight, weight_error;  ///< of each mode; of counts where not trusted
  bool trusted = false;
  std::string doubt;
  int64_t evaluations = 0;  ///< of the score, images

  /// For each sample: its mode's weight shared evenly; the sum is 1.
  std::vector<double> sample_weights(const std::vector<int64_t>& label) const;
};

/// samples [N, ...], label of each from 0 to modes - 1, every mode with at least two samples, two modes or more.
ModeOdds mode_odds(const ScoreField& score, const Tensor& samples, const std::vector<int64_t>& label,
                   const OddsOptions& options = {});

}  // namespace penumbra::theory
