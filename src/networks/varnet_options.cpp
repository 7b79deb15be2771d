/// The variational network's options as JSON, apart from its arithmetic: without ATen.h they can be fuzzed.
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "networks/option_reader.h"
#include "networks/varnet.h"

namespace penumbra {

VarNetOptions VarNetOptions::from_json(const nlohmann::json& json, const std::string& name) {
  OptionReader read(json, name);
  VarNetOptions o;
  o.in_channels = read.integer("in_channels", o.in_channels, 1, 64);
  o.cascades = read.integer("cascades", o.cascades, 1, 64);
  o.model_channels = read.integer("model_channels", o.model_channels, 1, 4096);
  o.channel_mult = read.numbers("channel_mult", o.channel_mult, 12);
  if (o.channel_mult.empty()) read.fail("channel_mult", "at least one number");
  for (const double multiple : o.channel_mult) {
    const double channels = multiple * static_cast<double>(o.model_channels);
    if (!(channels >= 1 && channels <= 65536))
      input_error("{}: architecture.channel_mult: {} x {} channels: expected 1 to 65536", name, multiple,
                  o.model_channels);
  }
  read.accept("kind");
  read.finish();
  return o;
}

nlohmann::json VarNetOptions::to_json() const {
  return {{"kind", "varnet"},
          {"in_channels", in_channels},
          {"cascades", cascades},
          {"model_channels", model_channels},
          {"channel_mult", channel_mult}};
}

}  // namespace penumbra
