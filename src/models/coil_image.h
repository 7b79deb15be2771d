/// One image from the k-space of all coils: what a scan shows before anything is inferred.
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// sum conj(S_c) F^H y_c / sum |S_c|^2, zero where no coil sees anything; complex [H, W]. k-space is [coils, H, W] and
/// the maps like it; undefined maps stand for one coil that sees everything alike.
Tensor coil_combined(const Tensor& kspace, const Tensor& maps);

/// The image that explains the measured points best, sum |P F S_c z - y_c|^2, as far as ten steps of conjugate
/// gradients from zero get: SENSE (Pruessmann et al., MRM 42:952, 1999). With one coil, the image with zeros for what
/// is missing.
Tensor least_squares_image(const Tensor& kspace, const Tensor& mask, const Tensor& maps);

/// coil_combined from the fully sampled rectangle around the zero frequency, with a Hamming window along the
/// dimensions that it cuts: the whole image where everything is measured, one of low resolution otherwise. Undefined
/// where the zero frequency itself is not measured.
Tensor low_resolution_image(const Tensor& kspace, const Tensor& mask, const Tensor& maps);

/// How far from the centre, as a part of the way to the rim, measured k-space stands out of its noise: rings of points
/// are counted from the middle as long as their power is four times the noise's. The samples have noise of variance
/// one in each real component.
double resolved_part(const Tensor& white, const Tensor& mask);

/// An image, complex [H, W], with only that part of its k-space, under a Hamming window.
Tensor resolved_image(const Tensor& image, double part);

/// The intensity that 99.7 % of the pixels do not exceed: what the shipped brain priors call white.
double white_level(const Tensor& image);

}  // namespace penumbra
