/// LibTorch's types and ours in the words of the kernels.
#pragma once

#include "core/cuda_device.h"
#include "networks/fused_norm.h"
#include "networks/norm_kernels.h"

namespace penumbra {

inline bool kernels_know(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
}

inline cuda::Element element_of(at::ScalarType type) {
  return type == at::kBFloat16 ? cuda::Element::bfloat16
         : type == at::kHalf   ? cuda::Element::float16
                               : cuda::Element::float32;
}

inline cuda::Resample resample_of(Resample resample) {
  return resample == Resample::up     ? cuda::Resample::up
         : resample == Resample::down ? cuda::Resample::down
                                      : cuda::Resample::none;
}

constexpr int64_t vector_width = 8, most_channels = 2048;

/// Reads of 16 bytes begin at it.
inline bool is_aligned(const Tensor& x) { return reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0; }

/// Images that the kernels read: channels-last, whole vectors of channels.
inline bool kernels_take(const Tensor& x) {
  return x.is_cuda() && kernels_run_on(x.device()) && kernels_know(x.scalar_type()) && x.dim() == 4 && x.numel() > 0 &&
         x.size(0) <= most_images && x.size(1) % vector_width == 0 && x.size(1) <= most_channels &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast) && is_aligned(x);
}

/// A number for every channel in the images' type, or none.
inline bool is_bias_of(const Tensor& bias, const Tensor& x) {
  return !bias.defined() || (bias.device() == x.device() && bias.scalar_type() == x.scalar_type() && bias.dim() == 1 &&
                             bias.size(0) == x.size(1) && bias.is_contiguous() && is_aligned(bias));
}

/// A normalisation of so many images and channels.
inline bool terms_fit(const NormalizationTerms& terms, int64_t images, int64_t channels) {
  const auto numbers = [&](const Tensor& t) {
    return t.is_cuda() && t.scalar_type() == at::kFloat && t.numel() == channels && t.is_contiguous();
  };
  const auto& film = terms.film;
  return channels % terms.groups == 0 && numbers(terms.weight) && numbers(terms.bias) &&
         (!film.defined() || (film.is_cuda() && film.scalar_type() == at::kFloat && film.dim() == 2 &&
                              film.size(0) == images && film.size(1) == 2 * channels));
}

}  // namespace penumbra
