/// One sky, what an array measured of it, and the likelihood that closures and the total flux leave.
#pragma once

#include <memory>

#include "likelihoods/interferometry.h"
#include "vlbi/averaging.h"
#include "vlbi/closures.h"
#include "vlbi/synthesis.h"

namespace penumbra::app::interferometry {

struct SkySetup {
  vlbi::ObservationPlan plan;
  double fov = 128;       ///< microarcseconds
  double flux = 0.6;      ///< Jy, of the source
  double flux_sd = 0.03;  ///< with which it is known
  double gain_sd = 0.1;   ///< of each station, constant and again with time
  /// Its systematic_noise, a share of |V|, is also what is simulated: errors that do not close.
  vlbi::Preparation preparation;
  vlbi::ClosureOptions closures;
};

/// The Event Horizon Telescope of 2017 on M87: 25 scans of five minutes in a night, about as many as on 6 April.
SkySetup m87_setup();

/// Sun & Bouman's nine stations on Sgr A*, as they simulated it: 10 s every 10 min of a day; nothing averaged or cut,
/// ehtim's minimal sets (580 closure phases and 485 amplitudes).
SkySetup sgra_setup();

struct SkyCase {
  Tensor truth;                  ///< float64 [1, H, W], in units of the prior's pixels
  vlbi::Observation observed;    ///< with the stations' errors, prepared
  vlbi::Observation calibrated;  ///< the same noise without them: what nobody has
  vlbi::PixelGrid grid;
  Placement placement;  ///< of the likelihood
  double fov = 0;
  std::shared_ptr<const InterferometryLikelihood> likelihood;

  double mean_pixel() const;  ///< what the flux says of it
};

/// Which data count.
struct Terms {
  double closure_phase = 1, log_closure_amplitude = 1;
};

/// The likelihood of a sky's data by other terms, or elsewhere.
std::shared_ptr<const InterferometryLikelihood> closure_likelihood(const SkyCase& sky, const SkySetup& setup,
                                                                   const Terms& terms, const Placement& placement);

/// The flux is known in units of the pixels, as in the paper, whose sum of x is a datum: a pixel of 1 has
/// flux / (sum of the truth) Jy.
SkyCase observe_sky(const Tensor& truth, const SkySetup& setup, uint64_t seed, const Placement& placement);

/// A^T V of calibrated visibilities, all with one weight; what is negative cut off, scaled to the flux: [1, H, W].
Tensor dirty_image(const SkyCase& sky);

}  // namespace penumbra::app::interferometry
