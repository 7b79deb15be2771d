#include "networks/fused_norm.h"

#include <ATen/ATen.h>

#include "networks/cpu_norm.h"
#include "networks/cuda_features.h"
#include "networks/cuda_norm.h"

namespace penumbra {

namespace {

Tensor whole(at::ArrayRef<Features> parts) {
  std::vector<Tensor> values;
  for (const auto& [value, bias, sums] : parts)
    values.push_back(bias.defined() ? value + bias.reshape({1, -1, 1, 1}) : value);
  return values.size() == 1 ? values[0] : at::cat(values, 1);
}

}  // namespace

Tensor normalise_plainly(const Tensor& x, const NormalizationTerms& terms) {
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

Tensor normalise(at::ArrayRef<Features> parts, const NormalizationTerms& terms) {
  if (cuda_parts_norm_serves(parts, terms)) return cuda_normalise_parts(parts, terms);
  const auto x = whole(parts);
  if (cuda_norm_serves(x, terms)) return cuda_normalise(x, terms);
  if (cpu_norm_serves(x, terms)) return resampled(cpu_normalise(x, terms), terms.resample);
  return normalise_plainly(x, terms);
}

}  // namespace penumbra
