/// The layers that score networks are made of. A layer computes in the type and memory format of what it is given.
#pragma once

#include <string>

#include "networks/parameters.h"
#include "networks/pixel_ops.h"

namespace penumbra {

struct Linear {
  Tensor weight, bias;
  Linear() = default;
  Linear(const ParameterSource& source, const std::string& name, int64_t in, int64_t out, bool wide = true);
  Tensor operator()(const Tensor& x) const;
};

/// 2-D, square kernel, same size of image at stride 1.
struct Convolution {
  Tensor weight, bias;
  int64_t stride = 1;
  Convolution() = default;
  Convolution(const ParameterSource& source, const std::string& name, int64_t in, int64_t out, int64_t kernel = 3,
              Initial initial = Initial::fan_in, int64_t stride = 1, bool wide = false);
  Tensor operator()(const Tensor& x) const;
  /// With the bias left to the reader on GPUs without gradients, where LibTorch would add it in a pass of its own.
  Features unbiased(const Tensor& x) const;
  /// The same of side_by_side's parts, for kernels of one pixel.
  Features unbiased(at::ArrayRef<Features> parts) const;
  /// In the type and memory format of `like`.
  Features into(const Tensor& x, const Tensor& like) const;
};

/// Group normalisation of 32 groups, then scale and shift, then SiLU where asked: f(norm(x) (1 + scale) + shift).
struct Normalization {
  Tensor weight, bias;
  Normalization() = default;
  Normalization(const ParameterSource& source, const std::string& name, int64_t channels);
  /// `film` is [N, 2 channels], scale then shift, float32; undefined: none.
  Tensor operator()(at::ArrayRef<Features> parts, const Tensor& film = {}, bool activate = true,
                    Resample resample = Resample::none) const;
};

/// skip(parts) + change, rounded once where it is one kernel; change's value, which nothing else may hold, is
/// overwritten where that is faster.
Features add_skip(const Convolution& skip, at::ArrayRef<Features> parts, Features change);

/// conv(norm(x)), where the network ends: in float32 where it is one kernel.
Tensor finish(const Normalization& norm, const Convolution& conv, const Features& x);

/// Self-attention over the pixels, added to its input.
struct Attention {
  enum class Order {
    heads_first,  ///< channels of qkv: [heads, 3, width]
    qkv_first,    ///< [3, heads, width]
  };
  Normalization norm;
  Linear qkv, out;
  int64_t heads = 1;
  Order order = Order::heads_first;
  Attention() = default;
  Attention(const ParameterSource& source, const std::string& name, int64_t channels, int64_t heads, Order order);
  Features operator()(const Features& x) const;
};

}  // namespace penumbra
