#include "samplers/step_numbers.h"

#include <ATen/ATen.h>

namespace penumbra {

void StepNumbers::write(Tensor& values) const {
  const double all[] = {sigma, alpha, gamma, noise, static_cast<double>(k)};
  // A filled number travels with the launch; a copied one would have the host wait for its memory.
  for (int64_t i = 0; i < 5; ++i) values.select(0, i).fill_(all[i]);
}

StepScalars StepScalars::of(const StepNumbers& numbers) {
  const auto scalar = [](double value) { return at::scalar_tensor(value, at::TensorOptions().dtype(at::kDouble)); };
  return {scalar(numbers.sigma), scalar(numbers.alpha), scalar(numbers.gamma), scalar(numbers.noise), numbers, {}};
}

StepScalars StepScalars::in(const Tensor& values) {
  return {values[0], values[1], values[2], values[3], std::nullopt, values};
}

int64_t StepScalars::iteration() const { return known ? known->k : static_cast<int64_t>(held[4].item<double>()); }

}  // namespace penumbra
