#include "networks/varnet.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/error.h"
#include "networks/pixel_ops.h"

namespace penumbra {

VarNet::Block::Block(const ParameterSource& source, const std::string& name, int64_t channels)
    : first(source, name + ".0", channels, channels), second(source, name + ".1", channels, channels) {}

Tensor VarNet::Block::operator()(const Tensor& x) const {
  return add_to(x, {second(at::silu(first(at::silu(x))))}).value;
}

VarNet::Correction::Correction(const VarNetOptions& options, const ParameterSource& source, const std::string& name)
    // The image itself is not rounded to a short type, as in the U-Net.
    : in(source, name + ".in", options.in_channels, options.width(), 3, Initial::fan_in, 1, true),
      out(source, name + ".out", options.width(), options.in_channels, 3, Initial::zero) {
  const auto last = options.channel_mult.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    const auto here = options.channels_at(i), below = options.channels_at(i + 1);
    const auto level = fmt::format("{}.levels.{}", name, i);
    levels.push_back({Block(source, level + ".down", here),
                      Convolution(source, level + ".coarser", here, below, 3, Initial::fan_in, 2),
                      Convolution(source, level + ".finer", below, here), Block(source, level + ".up", here)});
  }
  bottom.emplace_back(source, name + ".bottom", options.channels_at(last));
}

Tensor VarNet::Correction::operator()(const Tensor& x) const {
  auto h = in(x).to(out.weight.scalar_type()).contiguous(out.weight.suggest_memory_format());
  std::vector<Tensor> skips;
  for (const auto& level : levels) {
    skips.push_back(level.down(h));
    h = level.coarser(skips.back());
  }
  h = bottom.front()(h);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    // The convolution before the enlargement costs a quarter of one after it.
    h = level->up(add_to(skips.back(), {twice(level->finer(h))}).value);
    skips.pop_back();
  }
  return out(at::silu(h));
}

VarNet::VarNet(const VarNetOptions& options, const ParameterSource& source) {
  for (int64_t t = 0; t < options.cascades; ++t) {
    const auto name = fmt::format("cascades.{}", t);
    const auto eta = source({name + ".eta", {1}, Initial::one, 1, 1, true, true});
    cascades_.push_back({eta, Correction(options, source, name + ".correction")});
  }
}

Tensor VarNet::operator()(const NetworkInput& input) const {
  if (!input.data_gradient)
    input_error("varnet: expected the gradient of the data's misfit, found none; it reconstructs, it is no denoiser");
  auto x = input.x;
  for (const auto& [eta, correction] : cascades_)
    x = x - eta * input.data_gradient(x) + correction(x).to(x.scalar_type());
  return x;
}

}  // namespace penumbra
