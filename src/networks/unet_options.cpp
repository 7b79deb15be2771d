/// The U-Net's options as JSON, under the official configuration's names.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "networks/option_reader.h"
#include "networks/unet.h"

namespace penumbra {
namespace {

using nlohmann::json;

/// Group normalisation has 32 groups; heads share the channels evenly.
void check_channels(const UNetOptions& o, const std::string& name) {
  constexpr int64_t groups = 32;
  for (size_t level = 0; level < o.channel_mult.size(); ++level) {
    const auto channels = o.channels_at(level);
    if (channels % groups != 0)
      input_error("{}: architecture.channel_mult: {} x {} = {} channels: expected a multiple of {}", name,
                  o.channel_mult[level], o.model_channels, channels, groups);
    const bool attends =
        std::ranges::find(o.attention_resolutions, int64_t{1} << level) != o.attention_resolutions.end();
    const bool deepest = level + 1 == o.channel_mult.size();
    if (!attends && !deepest) continue;
    const auto check = [&](const char* key, int64_t divisor) {
      if (channels % divisor != 0)
        input_error(
            "{}: architecture.{}: expected a divisor of the {} channels at which attention takes place, found {}", name,
            key, channels, divisor);
    };
    if (o.num_head_channels > 0) {
      check("num_head_channels", o.num_head_channels);
    } else {
      check("num_heads", o.num_heads);
      if (attends && o.num_heads_upsample > 0) check("num_heads_upsample", o.num_heads_upsample);
    }
  }
}

}  // namespace

UNetOptions UNetOptions::from_json(const json& object, const std::string& name) {
  OptionReader read(object, name);
  UNetOptions o;
  o.in_channels = read.integer("in_channels", o.in_channels, 1, 64);
  o.out_channels = read.integer("out_channels", o.out_channels, 1, 64);
  if (o.in_channels != o.out_channels)
    input_error("{}: architecture.out_channels: expected in_channels = {}, found {}; a score is shaped like its image",
                name, o.in_channels, o.out_channels);
  o.model_channels = read.integer("model_channels", o.model_channels, 1, 4096);
  o.num_res_blocks = read.integer("num_res_blocks", o.num_res_blocks, 1, 16);
  o.channel_mult = read.channel_multiples(o.channel_mult, o.model_channels);
  for (const double factor : read.numbers("attention_resolutions", {}, 16)) {
    if (!(factor >= 1 && factor <= 65536 && factor == std::floor(factor)))
      read.fail("attention_resolutions", "down-sampling factors");
    o.attention_resolutions.push_back(static_cast<int64_t>(factor));
  }
  const auto mode = read.text("network_mode", "sigma");
  if (mode != "sigma" && mode != "timestep") read.fail("network_mode", "sigma or timestep");
  o.network_mode = mode == "sigma" ? Mode::sigma : Mode::timestep;
  o.use_embed = read.flag("use_embed", o.use_embed);
  o.fourier_scale = read.number("fourier_scale", o.fourier_scale, 0, 1e6);
  o.dropout = read.number("dropout", o.dropout, 0, 0.99);
  o.conv_resample = read.flag("conv_resample", o.conv_resample);
  if (const auto dims = read.integer("dims", 2, 1, 3); dims != 2)
    input_error("{}: architecture.dims: expected 2, found {}; images are two-dimensional here", name, dims);
  o.num_classes = read.integer("num_classes", 0, 0, 1000000);
  o.num_heads = read.integer("num_heads", o.num_heads, 1, 4096);
  o.num_heads_upsample = read.integer("num_heads_upsample", o.num_heads_upsample, -1, 4096);
  if (o.num_heads_upsample == 0) read.fail("num_heads_upsample", "-1 (as num_heads) or at least 1");
  o.num_head_channels = read.integer("num_head_channels", o.num_head_channels, -1, 65536);
  if (o.num_head_channels == 0) read.fail("num_head_channels", "-1 (by num_heads) or at least 1");
  o.use_scale_shift_norm = read.flag("use_scale_shift_norm", o.use_scale_shift_norm);
  o.resblock_updown = read.flag("resblock_updown", o.resblock_updown);
  o.use_new_attention_order = read.flag("use_new_attention_order", o.use_new_attention_order);
  for (const auto* key : {"use_checkpoint", "use_fp16", "image_size", "name", "kind"}) read.accept(key);
  read.finish();
  check_channels(o, name);
  return o;
}

json UNetOptions::to_json() const {
  return {{"kind", "unet"},
          {"in_channels", in_channels},
          {"out_channels", out_channels},
          {"model_channels", model_channels},
          {"num_res_blocks", num_res_blocks},
          {"channel_mult", channel_mult},
          {"attention_resolutions", attention_resolutions},
          {"network_mode", network_mode == Mode::timestep ? "timestep" : "sigma"},
          {"use_embed", use_embed},
          {"fourier_scale", fourier_scale},
          {"dropout", dropout},
          {"conv_resample", conv_resample},
          {"num_classes", num_classes > 0 ? json(num_classes) : json()},
          {"num_heads", num_heads},
          {"num_heads_upsample", num_heads_upsample},
          {"num_head_channels", num_head_channels},
          {"use_scale_shift_norm", use_scale_shift_norm},
          {"resblock_updown", resblock_updown},
          {"use_new_attention_order", use_new_attention_order}};
}

}  // namespace penumbra
