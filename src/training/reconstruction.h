/// Learning to reconstruct: every image is measured, and what the network makes of the data is compared with it.
#pragma once

#include "models/forward_model.h"
#include "training/task.h"

namespace penumbra::training {

/// 20 log10 of the RMS of A x, of each image x: float64 on the CPU, [N].
Tensor level_db(const ForwardModel& A, const Tensor& x);

/// y = A x + beta n, A linear.
struct LinearMeasurement {
  std::shared_ptr<const ForwardModel> A;
  double beta = 0;     ///< SD of the noise, for each real component
  double norm_sq = 1;  ///< |A|^2

  /// Of the images x [N, ...], with the noise of (at, stream).
  Tensor measure(const Tensor& x, const Cursor& at, Stream stream) const;
  /// G of the data y [N, ...]; gradients flow through it to x, not to y.
  DataGradient gradient(const Tensor& y) const;
};

class Reconstruction final : public Task {
 public:
  explicit Reconstruction(LinearMeasurement measurement) : measurement_(std::move(measurement)) {}

  /// Mean over images and pixels of |F(y) - x|^2, y measured anew at every step.
  Tensor loss(const ScoreNetwork& network, const Tensor& x, const Cursor& at, int64_t batch) const override;
  /// One, of no levels.
  std::vector<Band> bands(int64_t count) const override;
  Judged judge(const ScoreNetwork& network, const Tensor& x, const Band& band, const HeldOut& which) const override;

 private:
  LinearMeasurement measurement_;
};

}  // namespace penumbra::training
