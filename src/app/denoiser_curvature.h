/// How stiff the data are to a sampler that compares them with the denoised image.
#pragma once

#include <optional>

#include "samplers/posterior.h"

namespace penumbra::app {

/// The largest eigenvalue of the Hessian of g(D(x)), J^T A^T A J / beta^2, at an image that the prior makes of noise
/// sigma_0, with noise sigma on it, by power iteration; nothing where the likelihood is not linear and Gaussian.
std::optional<double> curvature_through_denoiser(const Posterior& posterior, double sigma, double sigma_0);

}  // namespace penumbra::app
