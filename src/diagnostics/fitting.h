/// Samples that the posterior does not have, by their fit to the data alone.
#pragma once

#include "diagnostics/modes.h"

namespace penumbra::diagnostics {

struct Fitting {
  std::vector<int64_t> kept, left_out;  ///< numbers of the samples, in their order
  double most = 0;                      ///< chi^2 a datum, over all terms, up to which they are kept; 0: all are
};

/// Of fewer samples all are kept: they cannot say what can be had.
constexpr int64_t fewest_to_choose_from = 8;

/// Annealed chains may end in an optimum that they cannot leave and that fits far worse than others do. With M data a
/// draw of the posterior has a total chi^2 of about M with an SD of sqrt(2 M) at most. Left out is what lies three such
/// SDs above: as an energy 3 sqrt(M / 2), 36 nats of 300 data, which the prior would have to make good. Where no image
/// explains the data that well, the best tenth of the samples says what can be had, in the place of M.
Fitting fitting_samples(const std::vector<TermFit>& fits);

}  // namespace penumbra::diagnostics
