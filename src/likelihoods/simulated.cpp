#include "likelihoods/simulated.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "likelihoods/clipped.h"
#include "likelihoods/gaussian.h"
#include "likelihoods/interferometry.h"
#include "likelihoods/mri.h"

namespace penumbra {
namespace {

/// One measurement is left without its row, so that it is every chain's, however many there are.
Tensor rows(const Tensor& y, int64_t chains) { return y.size(0) == 1 ? y[0] : y.repeat_interleave(chains, 0); }

}  // namespace

bool takes_many_measurements(const Likelihood& likelihood) {
  if (const auto* clipped = dynamic_cast<const ClippedLikelihood*>(&likelihood))
    return takes_many_measurements(clipped->unclipped());
  return !likelihood.has_data() || dynamic_cast<const GaussianLikelihood*>(&likelihood) != nullptr;
}

std::shared_ptr<const Likelihood> given_simulated(const std::shared_ptr<const Likelihood>& likelihood,
                                                  const Tensor& truths, int64_t chains, const Cursor& at) {
  if (!likelihood->has_data()) return likelihood;
  if (const auto* clipped = dynamic_cast<const ClippedLikelihood*>(likelihood.get())) {
    const std::shared_ptr<const Likelihood> inner(likelihood, &clipped->unclipped());
    return std::make_shared<ClippedLikelihood>(given_simulated(inner, truths, chains, at), clipped->max_norm());
  }
  if (const auto* mri = dynamic_cast<const MriLikelihood*>(likelihood.get()))
    return mri->with_data(rows(mri->GaussianLikelihood::simulate(truths, at), chains));
  if (const auto* gaussian = dynamic_cast<const GaussianLikelihood*>(likelihood.get()))
    return std::make_shared<GaussianLikelihood>(std::shared_ptr<const ForwardModel>(likelihood, &gaussian->model()),
                                                rows(gaussian->simulate(truths, at), chains), *gaussian->noise_sd());
  if (const auto* interferometry = dynamic_cast<const InterferometryLikelihood*>(likelihood.get());
      interferometry != nullptr && truths.size(0) == 1)
    return interferometry->with_data(interferometry->simulate(truths, at)[0]);
  input_error("likelihood: expected one that can be given simulated data, {} at once", truths.size(0));
}

}  // namespace penumbra
