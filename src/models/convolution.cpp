/// A(x) = k * x: periodic convolution with a kernel, by FFT.
#include <ATen/ATen.h>

#include "core/error.h"
#include "io/npy.h"
#include "models/forward_model.h"

namespace penumbra {
namespace {

class Convolution final : public ForwardModel {
 public:
  /// The kernel's centre, element [h/2, w/2], is where the output lands.
  Convolution(Shape image_shape, const Tensor& kernel) : ForwardModel("convolution", image_shape, image_shape) {
    auto padded = at::zeros({image_shape[1], image_shape[2]}, kernel.options());
    padded.narrow(0, 0, kernel.size(0)).narrow(1, 0, kernel.size(1)).copy_(kernel);
    transfer_ = at::fft_rfft2(padded.roll({-(kernel.size(0) / 2), -(kernel.size(1) / 2)}, {0, 1}));
  }
  bool linear() const override { return true; }

 private:
  Tensor filter(const Tensor& x, const Tensor& transfer) const {
    const int64_t size[] = {image_shape()[1], image_shape()[2]};
    return at::fft_irfft2(at::fft_rfft2(x) * transfer, at::IntArrayRef(size));
  }
  Tensor do_apply(const Tensor& x) const override { return filter(x, transfer_); }
  Tensor do_vjp(const Tensor&, const Tensor& r) const override { return filter(r, transfer_.conj()); }

  Tensor transfer_;
};

/// exp(-r^2 / (2 width^2)) out to four widths, with sum 1.
Tensor gaussian_kernel(double width, int64_t largest_side) {
  const auto reach = std::min(static_cast<int64_t>(std::ceil(4 * width)), (largest_side - 1) / 2);
  const auto offset = at::arange(-reach, reach + 1, at::TensorOptions().dtype(at::kDouble));
  const auto profile = (-offset.square() / (2 * width * width)).exp();
  const auto kernel = at::outer(profile, profile);
  return kernel / kernel.sum();
}

std::unique_ptr<ForwardModel> make(Settings& settings, const Shape& image_shape, const Placement& placement) {
  Tensor kernel;
  if (settings.has("blur_width_pixels")) {
    kernel = gaussian_kernel(settings.number("blur_width_pixels", positive), std::min(image_shape[1], image_shape[2]));
  } else {
    const auto path = settings.file("kernel");
    kernel = io::read_npy(path);
    if (kernel.dim() != 2 || kernel.size(0) > image_shape[1] || kernel.size(1) > image_shape[2] || kernel.is_complex())
      input_error("{}: expected a real kernel of at most {}x{}, found {}", path.string(), image_shape[1],
                  image_shape[2], describe(kernel.sizes()));
    if (!kernel.isfinite().all().item<bool>()) input_error("{}: expected finite numbers", path.string());
  }
  return std::make_unique<Convolution>(image_shape, place(kernel, placement));
}

}  // namespace

extern const ForwardModelEntry convolution{"convolution", "periodic convolution with a kernel or a Gaussian blur",
                                           "{blur_width_pixels: 0.7}", make};

}  // namespace penumbra
