#include "training/architecture_setting.h"

#include "core/error.h"
#include "networks/network.h"

namespace penumbra::training {
namespace {

nlohmann::json checked(const Settings& section, const nlohmann::json& options) {
  try {
    const Architecture architecture(options, "options");
    architecture.parameters();  // what does not fit together shows when the network is built
    return architecture.to_json();
  } catch (const InputError& error) {
    section.fail("kind", fmt::format("no such network can be built: {}", error.what()));
  }
}

}  // namespace

nlohmann::json architecture_setting(Settings section, int64_t channels) {
  nlohmann::json options{{"in_channels", channels}};
  const auto kind = section.choice("kind", {"unet"}, "unet");
  options["kind"] = kind;
  options["out_channels"] = channels;
  options["model_channels"] = section.integer("model_channels", 64, {1, 4096});
  options["num_res_blocks"] = section.integer("num_res_blocks", 2, {1, 16});
  options["channel_mult"] = section.numbers("channel_mult", {1, 2, 3, 4});
  options["attention_resolutions"] = section.numbers("attention_resolutions", {8});
  options["num_head_channels"] = section.integer("num_head_channels", 64, {-1, 65536});
  options["num_heads"] = section.integer("num_heads", 1, {1, 4096});
  options["use_scale_shift_norm"] = section.flag("use_scale_shift_norm", true);
  options["resblock_updown"] = section.flag("resblock_updown", true);
  options["conv_resample"] = section.flag("conv_resample", true);
  options["use_new_attention_order"] = section.flag("use_new_attention_order", false);
  options["fourier_scale"] = section.number("fourier_scale", 0.25, positive);
  options["dropout"] = section.number("dropout", 0, {0, 0.99});
  return checked(section, options);
}

nlohmann::json varnet_setting(Settings section, int64_t channels) {
  nlohmann::json options{{"in_channels", channels}};
  options["kind"] = section.choice("kind", {"varnet"}, "varnet");
  options["cascades"] = section.integer("cascades", 6, {1, 64});
  options["model_channels"] = section.integer("model_channels", 32, {1, 4096});
  options["channel_mult"] = section.numbers("channel_mult", {1, 2, 2});
  return checked(section, options);
}

}  // namespace penumbra::training
