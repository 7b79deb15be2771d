/// What one evaluation of the U-Net costs, layer by layer.
#include <ATen/ATen.h>

#include "networks/unet.h"

namespace penumbra {

/// The walk of UNet::operator() with the image's size in place of the image.
std::optional<double> UNet::operations(int64_t height, int64_t width) const {
  double multiplications = 0;
  int64_t factor = 1;  // by which the image is smaller than at first
  const auto pixels = [&] { return static_cast<double>(height / factor * (width / factor)); };
  const auto once = [&](const Linear& layer) { multiplications += static_cast<double>(layer.weight.numel()); };
  const auto everywhere = [&](const auto& layer) {
    multiplications += static_cast<double>(layer.weight.numel()) * pixels();
  };
  const auto resample = [&](Resample step) {
    if (step == Resample::down) factor *= 2;
    if (step == Resample::up) factor /= 2;
  };
  const auto walk = [&](const Stage& stage) {
    for (const auto& layer : stage) {
      if (layer.block) {
        resample(layer.block->resample);
        everywhere(layer.block->in_conv);
        everywhere(layer.block->out_conv);
        if (layer.block->skip) everywhere(*layer.block->skip);
        if (layer.block->embedding) once(*layer.block->embedding);
      } else if (layer.attention) {
        everywhere(layer.attention->qkv);
        everywhere(layer.attention->out);
        // Every pixel with every pixel, once for the weights and once for the values.
        multiplications += 2 * pixels() * pixels() * static_cast<double>(layer.attention->out.weight.size(0));
      } else {
        resample(layer.resample);
        if (layer.conv) everywhere(*layer.conv);
      }
    }
  };
  if (embed_in_) {
    once(*embed_in_);
    once(*embed_out_);
  }
  for (const auto& stage : down_) walk(stage);
  walk(middle_);
  for (const auto& stage : up_) walk(stage);
  everywhere(out_conv_);
  return 2 * multiplications;
}

}  // namespace penumbra
