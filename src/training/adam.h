/// Adam on one flat tensor, with the gradient's norm held below a limit.
#pragma once

#include <map>

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::training {

struct AdamOptions {
  double learning_rate = 2e-4;
  int64_t warm_up = 500;   ///< steps over which the rate rises to its value
  double final_share = 0;  ///< the rate falls along a cosine to this share of its value at the last step; 1: constant
  double beta1 = 0.9, beta2 = 0.99;
  double epsilon = 1e-8;
  double clip = 1;  ///< largest norm of the gradient

  /// The rate at step k of `steps`.
  double rate(int64_t k, int64_t steps) const;
};

AdamOptions adam_setting(Settings section);

class Adam {
 public:
  Adam(const AdamOptions& options, const Tensor& like);

  /// Changes `values` by step k (counted from 0). A gradient that is not finite counts as zero: the moments decay, and
  /// the values move by what is left of them. Returns the gradient's norm before it was limited, a number on the
  /// device: reading it would wait.
  Tensor step(Tensor& values, Tensor& gradient, int64_t k, int64_t steps);

  /// First and second moments: the whole state, but for k.
  std::map<std::string, Tensor> state() const { return {{"adam_mean", mean_}, {"adam_square", square_}}; }
  void restore(const std::map<std::string, Tensor>& state);

 private:
  AdamOptions options_;
  Tensor mean_, square_;
};

}  // namespace penumbra::training
