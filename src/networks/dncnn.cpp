#include "networks/dncnn.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "networks/option_reader.h"

namespace penumbra {

DnCnnOptions DnCnnOptions::from_json(const nlohmann::json& json, const std::string& name) {
  OptionReader read(json, name);
  DnCnnOptions o;
  o.in_channels = read.integer("in_channels", o.in_channels, 1, 64);
  o.model_channels = read.integer("model_channels", o.model_channels, 1, 4096);
  o.depth = read.integer("depth", o.depth, 2, 256);
  read.accept("kind");
  read.finish();
  return o;
}

nlohmann::json DnCnnOptions::to_json() const {
  return {{"kind", "dncnn"}, {"in_channels", in_channels}, {"model_channels", model_channels}, {"depth", depth}};
}

DnCnn::DnCnn(const DnCnnOptions& options, const ParameterSource& source) {
  // The published files number the modules, activations included: convolutions have the even numbers.
  for (int64_t i = 0; i < options.depth; ++i)
    layers_.emplace_back(source, fmt::format("{}", 2 * i), i == 0 ? options.in_channels : options.model_channels,
                         i + 1 == options.depth ? options.in_channels : options.model_channels);
}

Tensor DnCnn::operator()(const NetworkInput& input) const {
  auto h = input.x.to(layers_.front().weight.scalar_type());
  for (size_t i = 0; i < layers_.size(); ++i) {
    h = layers_[i](h);
    if (i + 1 < layers_.size()) h = at::relu(h);
  }
  return h;
}

std::optional<double> DnCnn::operations(int64_t height, int64_t width) const {
  double multiplications = 0;
  for (const auto& layer : layers_) multiplications += static_cast<double>(layer.weight.numel() * height * width);
  return 2 * multiplications;
}

}  // namespace penumbra
