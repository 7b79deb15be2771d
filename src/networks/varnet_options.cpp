/// The variational network's options as JSON, apart from its arithmetic: without ATen.h they can be fuzzed.
#include <nlohmann/json.hpp>

#include "networks/option_reader.h"
#include "networks/varnet.h"

namespace penumbra {

VarNetOptions VarNetOptions::from_json(const nlohmann::json& json, const std::string& name) {
  OptionReader read(json, name);
  VarNetOptions o;
  o.in_channels = read.integer("in_channels", o.in_channels, 1, 64);
  o.cascades = read.integer("cascades", o.cascades, 1, 64);
  o.model_channels = read.integer("model_channels", o.model_channels, 1, 4096);
  o.channel_mult = read.channel_multiples(o.channel_mult, o.model_channels);
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
