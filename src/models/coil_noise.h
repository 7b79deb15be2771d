/// The noise of the coils: its covariance from data, and what makes it white.
///
/// A covariance is that of one real component, Sigma = E[n n^H] / 2, complex128 [coils, coils]: white noise of
/// standard deviation beta a component has beta^2 I.
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// From a noise scan, complex [coils, N].
Tensor noise_covariance(const Tensor& noise);

/// From samples, complex [coils, N], that are noise but for a part of up to a half: the covariance of the half with
/// the smallest Mahalanobis distances, corrected for the cut as for Gaussian noise, repeated until it settles (the
/// concentration steps of the minimum covariance determinant). For one coil close to the median absolute deviation.
/// Signal in more of the samples makes it too large, never too small.
Tensor robust_noise_covariance(const Tensor& samples);

/// The given part of the measured points that lie farthest out, distances relative to the extents: [coils, N].
Tensor outermost_samples(const Tensor& kspace, const Tensor& mask, double part);

}  // namespace penumbra
