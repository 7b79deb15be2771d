/// The centred, orthonormal Fourier transform of the last two dimensions: zero frequency and image centre at [H/2,
/// W/2].
#pragma once

#include "core/tensor.h"

namespace penumbra {

/// F x, complex; its adjoint is its inverse.
Tensor centred_fft(const Tensor& image);
Tensor centred_ifft(const Tensor& kspace);

}  // namespace penumbra
