#include "networks/fused_norm.h"

#include <ATen/ATen.h>

#include "networks/cpu_norm.h"
#include "networks/cuda_norm.h"

namespace penumbra {

namespace {

Tensor whole(const Tensor& x, const NormalizationTerms& terms) {
  return terms.late_bias.defined() ? x + terms.late_bias.reshape({1, -1, 1, 1}) : x;
}

}  // namespace

Tensor normalise_plainly(const Tensor& input, const NormalizationTerms& terms) {
  const auto x = whole(input, terms);
  const bool narrow = x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
  const auto weight = narrow ? terms.weight : terms.weight.to(x.scalar_type());
  const auto bias = narrow ? terms.bias : terms.bias.to(x.scalar_type());
  auto h = at::group_norm(narrow ? x.to(at::kFloat) : x, terms.groups, weight, bias, terms.epsilon);
  if (terms.film.defined()) {
    const auto parts = terms.film.to(h.scalar_type()).unsqueeze(-1).unsqueeze(-1).chunk(2, 1);
    h = h * (1 + parts[0]) + parts[1];
  }
  if (terms.activate) h = at::silu(h);
  return resampled(narrow ? h.to(x.scalar_type()) : h, terms.resample);
}

Tensor normalise(const Tensor& x, const NormalizationTerms& terms) {
  if (cuda_norm_serves(x, terms)) return cuda_normalise(x, terms);
  if (cpu_norm_serves(x, terms)) return resampled(cpu_normalise(whole(x, terms), terms), terms.resample);
  return normalise_plainly(x, terms);
}

}  // namespace penumbra
