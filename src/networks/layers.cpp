#include "networks/layers.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/version.h>

#include "networks/cuda_features.h"
#include "networks/fused_norm.h"

namespace penumbra {
namespace {

constexpr int64_t groups = 32;
constexpr double epsilon = 1e-5;

/// softmax(q k^T / sqrt(width)) v for [N, heads, pixels, width].
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
#if TORCH_VERSION_MAJOR >= 2
  return at::scaled_dot_product_attention(q, k, v);
#else
  // Each factor takes a part of the scale, so that short types do not overflow.
  const double scale = 1 / std::sqrt(std::sqrt(static_cast<double>(q.size(-1))));
  const auto weight = at::matmul(q * scale, (k * scale).transpose(-2, -1)).to(at::kFloat).softmax(-1);
  return at::matmul(weight.to(v.scalar_type()), v);
#endif
}

// cuDNN's kernels want channels in multiples of this.
constexpr int64_t vector_width = 8;

/// One row a pixel, its neighbourhood: a matrix product, and so are the gradients, in full float32.
Tensor convolve_one_channel(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto k = weight.size(2);
  const auto rows = at::im2col(x, {k, k}, {1, 1}, {k / 2, k / 2}, {1, 1}).transpose(1, 2);
  const auto out = at::linear(rows, weight.reshape({weight.size(0), k * k}), bias);
  return out.view({x.size(0), x.size(2), x.size(3), weight.size(0)}).permute({0, 3, 1, 2});
}

/// With channels of zeros that are cut off again.
Tensor convolve_to_few(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride) {
  const auto out = weight.size(0), more = vector_width - out;
  const auto wide = at::constant_pad_nd(weight, {0, 0, 0, 0, 0, 0, 0, more}).contiguous(weight.suggest_memory_format());
  return at::conv2d(x, wide, at::constant_pad_nd(bias, {0, more}), stride, weight.size(2) / 2).narrow(1, 0, out);
}

Tensor as_type(const Tensor& x, const Tensor& like) {
  return x.scalar_type() == like.scalar_type() ? x : x.to(like.scalar_type());
}

}  // namespace

Linear::Linear(const ParameterSource& source, const std::string& name, int64_t in, int64_t out, bool wide)
    : weight(source({name + ".weight", {out, in}, Initial::fan_in, in, 1, true, wide})),
      bias(source({name + ".bias", {out}, Initial::fan_in, in, 1, true, wide})) {}

Tensor Linear::operator()(const Tensor& x) const {
  return at::linear(x, weight.dim() == 3 ? weight.squeeze(-1) : weight, bias);
}

Convolution::Convolution(const ParameterSource& source, const std::string& name, int64_t in, int64_t out,
                         int64_t kernel, Initial initial, int64_t stride, bool wide)
    : weight(source({name + ".weight", {out, in, kernel, kernel}, initial, in * kernel * kernel, 1, true, wide})),
      bias(source({name + ".bias", {out}, initial, in * kernel * kernel, 1, true, wide})),
      stride(stride) {}

Tensor Convolution::operator()(const Tensor& x) const {
  if (x.is_cuda() && stride == 1 && weight.size(1) == 1) return convolve_one_channel(x, weight, bias);
  if (x.is_cuda() && weight.size(0) < vector_width) return convolve_to_few(x, weight, bias, stride);
  return at::conv2d(x, weight, bias, stride, weight.size(2) / 2);
}

Features Convolution::unbiased(const Tensor& x) const {
  if (!x.is_cuda() || c10::GradMode::is_enabled() || weight.size(0) < vector_width) return {(*this)(x)};
  return {at::conv2d(x, weight, {}, stride, weight.size(2) / 2), bias};
}

Features Convolution::unbiased(at::ArrayRef<Features> parts) const {
  if (parts.size() == 1) return unbiased(parts[0].value);
  // Pixels are rows: a matrix product for each part.
  const auto rows = [](const Tensor& x) { return x.permute({0, 2, 3, 1}).reshape({-1, x.size(1)}); };
  const auto matrix = weight.flatten(1);
  const auto &a = parts[0].value, &b = parts[1].value;
  auto out = at::mm(rows(a), matrix.narrow(1, 0, a.size(1)).t());
  out.addmm_(rows(b), matrix.narrow(1, a.size(1), b.size(1)).t());
  return {out.view({a.size(0), a.size(2), a.size(3), weight.size(0)}).permute({0, 3, 1, 2}), bias};
}

Features Convolution::into(const Tensor& x, const Tensor& like) const {
  if (stride == 1 && cuda_first_convolution_serves(x, weight, bias, like))
    return cuda_first_convolution(x, weight, bias, like);
  return {(*this)(x).to(like.scalar_type()).contiguous(like.suggest_memory_format())};
}

Normalization::Normalization(const ParameterSource& source, const std::string& name, int64_t channels)
    : weight(source({name + ".weight", {channels}, Initial::one, 1, 1, true, true})),
      bias(source({name + ".bias", {channels}, Initial::zero, 1, 1, true, true})) {}

Tensor Normalization::operator()(at::ArrayRef<Features> parts, const Tensor& film, bool activate,
                                 Resample resample) const {
  return normalise(parts, {weight, bias, film, groups, activate, epsilon, resample});
}

Features add_skip(const Convolution& skip, at::ArrayRef<Features> parts, Features change) {
  if (cuda_skip_serves(parts, skip.weight, skip.bias, change)) return cuda_skip(parts, skip.weight, skip.bias, change);
  const auto beside = skip.unbiased(parts);
  if (beside.bias.defined()) change.bias = change.bias + beside.bias;
  return add_to(beside.value, std::move(change));
}

Tensor finish(const Normalization& norm, const Convolution& conv, const Features& x) {
  const NormalizationTerms terms{norm.weight, norm.bias, {}, groups, true, epsilon};
  if (conv.stride == 1 && cuda_last_convolution_serves(x, terms, conv.weight))
    return cuda_last_convolution(x, terms, conv.weight, conv.bias);
  return conv(norm(x));
}

Attention::Attention(const ParameterSource& source, const std::string& name, int64_t channels, int64_t heads,
                     Order order)
    : norm(source, name + ".norm", channels), heads(heads), order(order) {
  // Stored as 1-D convolutions of width 1.
  const auto pointwise = [&](const std::string& part, int64_t out, Initial initial) {
    Linear layer;
    layer.weight = source({name + part + ".weight", {out, channels, 1}, initial, channels});
    layer.bias = source({name + part + ".bias", {out}, initial, channels});
    return layer;
  };
  qkv = pointwise(".qkv", 3 * channels, Initial::fan_in);
  out = pointwise(".proj_out", channels, Initial::zero);
}

Features Attention::operator()(const Features& features) const {
  const auto& x = features.value;
  const auto count = x.size(0), channels = x.size(1), pixels = x.size(2) * x.size(3);
  // In channels-last memory the pixels are rows already.
  const auto rows = norm(features, {}, false).permute({0, 2, 3, 1}).reshape({count, pixels, channels});
  auto parts = qkv(rows);
  const auto width = channels / heads;
  parts = order == Order::heads_first ? parts.view({count, pixels, heads, 3, width}).permute({3, 0, 2, 1, 4})
                                      : parts.view({count, pixels, 3, heads, width}).permute({2, 0, 3, 1, 4});
  const auto h = attend(parts[0], parts[1], parts[2]).transpose(1, 2).reshape({count, pixels, channels});
  return add_to(x, {as_type(out(h), x).reshape({count, x.size(2), x.size(3), channels}).permute({0, 3, 1, 2})});
}

}  // namespace penumbra
