#include "models/fourier.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

/// The last two dimensions.
std::vector<int64_t> plane(const Tensor& x) { return {x.dim() - 2, x.dim() - 1}; }

}  // namespace

Tensor centred_fft(const Tensor& image) {
  const auto dims = plane(image);
  return at::fft_fftshift(at::fft_fft2(at::fft_ifftshift(image, dims), {}, dims, "ortho"), dims);
}

Tensor centred_ifft(const Tensor& kspace) {
  const auto dims = plane(kspace);
  return at::fft_fftshift(at::fft_ifft2(at::fft_ifftshift(kspace, dims), {}, dims, "ortho"), dims);
}

}  // namespace penumbra
