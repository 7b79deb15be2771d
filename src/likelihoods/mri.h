/// g(x) = |A(x) + A(constant) - y|^2 / (2 beta^2) for the k-space of a scan, made white; and air where no coil sees.
#pragma once

#include "likelihoods/gaussian.h"
#include "models/mri.h"

namespace penumbra {

/// What the likelihood knows of the model beyond A; constant and colour may be left out.
struct MriFrame {
  Tensor constant;   ///< A of the image that x = 0 stands for, [coils, m]: moved into the data, so that A stays linear
  double gain2 = 1;  ///< |A|^2 at most: F and P have norm one, so the largest over the pixels of gain^2 sum |S_c|^2
  Tensor air;        ///< [1, H, W], 1 where no coil sees anything: held at `black` as well as the best seen pixel is
  double black = 0;  ///< the x of no signal
  Tensor colour;     ///< [coils, coils]: turns white noise into the scanner's; the data and the maps are free of it
};

/// What the scan shows by itself, combined over the coils, as images of the prior, [channels, H, W].
struct MriPictures {
  Tensor acquired;  ///< of every sample that the file holds: the truth where that is all of k-space
  Tensor measured;  ///< of those in the mask, zeros elsewhere
};

class MriLikelihood final : public GaussianLikelihood {
 public:
  /// y: [coils, m], white; undefined where there are no data.
  MriLikelihood(std::shared_ptr<const MriModel> A, const Tensor& y, double beta, MriFrame frame,
                MriPictures pictures = {});

  /// The bound gain2 / beta^2, at once: a power iteration on a scan of many coils takes minutes to find little less.
  std::optional<double> lipschitz() const override { return frame_.gain2 / (*noise_sd() * *noise_sd()); }

  /// The middle of k-space is measured, and a smooth image is all in it.
  std::optional<double> smooth_curvature() const override { return lipschitz(); }

  /// The whole k-space, complex64 [chains, coils, H, W], as a scanner's file has it: zeros where nothing is measured.
  Tensor simulate(const Tensor& x, const Cursor& at) const override;

  /// The same with other data, as GaussianLikelihood has them: white, and of x without the constant.
  std::shared_ptr<const Likelihood> with_data(const Tensor& y) const;

  /// Undefined where there are no data.
  const MriPictures& pictures() const { return pictures_; }

 private:
  Tensor do_value(const Tensor& x) const override;
  Tensor do_grad(const Tensor& x) const override;

  std::shared_ptr<const MriModel> A_;
  MriFrame frame_;
  MriPictures pictures_;
};

}  // namespace penumbra
