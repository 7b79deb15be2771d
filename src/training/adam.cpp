#include "training/adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace penumbra::training {

double AdamOptions::rate(int64_t k, int64_t steps) const {
  const double rise = warm_up > 0 ? std::min(1.0, static_cast<double>(k + 1) / static_cast<double>(warm_up)) : 1;
  const double course = steps > 1 ? static_cast<double>(k) / static_cast<double>(steps - 1) : 0;
  const double fall = final_share + (1 - final_share) * (1 + std::cos(M_PI * course)) / 2;
  return learning_rate * rise * fall;
}

AdamOptions adam_setting(Settings section) {
  AdamOptions o;
  o.learning_rate = section.number("learning_rate", o.learning_rate, positive);
  o.warm_up = section.integer("warm_up", o.warm_up, not_negative);
  o.final_share = section.number("final_share", o.final_share, {0, 1});
  o.beta1 = section.number("beta1", o.beta1, {0, 0.9999});
  o.beta2 = section.number("beta2", o.beta2, {0, 0.99999});
  o.epsilon = section.number("epsilon", o.epsilon, positive);
  o.clip = section.number("clip", o.clip, positive);
  return o;
}

Adam::Adam(const AdamOptions& options, const Tensor& like)
    : options_(options), mean_(at::zeros_like(like)), square_(at::zeros_like(like)) {}

Tensor Adam::step(Tensor& values, Tensor& gradient, int64_t k, int64_t steps) {
  c10::NoGradGuard no_gradients;
  const auto norm = gradient.norm();
  const auto factor = (options_.clip / (norm + 1e-12)).clamp_max(1);
  // A NaN or an infinity would stay in the moments for ever. What is left of such a step is a decay of the moments.
  gradient = at::where(norm.isfinite(), gradient * factor, at::zeros_like(gradient));
  mean_.lerp_(gradient, 1 - options_.beta1);
  square_.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  const double steps_done = static_cast<double>(k + 1);
  const double unbias_mean = 1 - std::pow(options_.beta1, steps_done);
  const double unbias_square = 1 - std::pow(options_.beta2, steps_done);
  const auto scale = (square_ / unbias_square).sqrt_().add_(options_.epsilon);
  values.addcdiv_(mean_, scale, -options_.rate(k, steps) / unbias_mean);
  return norm;
}

void Adam::restore(const std::map<std::string, Tensor>& state) {
  mean_.copy_(state.at("adam_mean"));
  square_.copy_(state.at("adam_square"));
}

}  // namespace penumbra::training
