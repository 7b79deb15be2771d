/// What a network is trained for: the loss of a batch, and how well it does on held-out images.
#pragma once

#include "core/random.h"
#include "networks/parameterisation.h"

namespace penumbra::training {

/// A range of noise levels in which held-out images are judged; both zero: the task knows no levels.
struct Band {
  double low = 0, high = 0;
};

/// Which of the held-out images a batch holds, and for what.
struct HeldOut {
  uint64_t seed = 0;
  int64_t first = 0, count = 0;  ///< number of the first in the batch, and of all that are judged
  int64_t band = 0;              ///< number of the band
  at::Device device = at::kCPU;  ///< of the network
};

/// One number an image, on the CPU.
struct Judged {
  Tensor loss;    ///< as in training
  Tensor square;  ///< mean over the pixels of the squared error
};

class Task {
 public:
  virtual ~Task() = default;

  /// Mean over the images x [N, C, H, W], which are rows first_chain and following of the `batch` images of step k.
  virtual Tensor loss(const ScoreNetwork& network, const Tensor& x, const Cursor& at, int64_t batch) const = 0;

  /// At most `count` of them.
  virtual std::vector<Band> bands(int64_t count) const = 0;

  /// x [N, C, H, W] is on the CPU.
  virtual Judged judge(const ScoreNetwork& network, const Tensor& x, const Band& band, const HeldOut& which) const = 0;
};

}  // namespace penumbra::training
