/// DnCNN without batch normalisation: a chain of convolutions that predicts the noise of one fixed level.
#pragma once

#include "networks/layers.h"
#include "networks/network.h"

namespace penumbra {

struct DnCnnOptions {
  int64_t in_channels = 1;
  int64_t model_channels = 64;
  int64_t depth = 17;

  static DnCnnOptions from_json(const nlohmann::json& json, const std::string& name);
  nlohmann::json to_json() const;
  int64_t width() const { return model_channels; }
  int64_t size_factor() const { return 1; }
};

class DnCnn : public Network {
 public:
  DnCnn(const DnCnnOptions& options, const ParameterSource& source);
  /// The noise in x.
  Tensor operator()(const NetworkInput& input) const override;
  std::optional<double> operations(int64_t height, int64_t width) const override;

 private:
  std::vector<Convolution> layers_;
};

}  // namespace penumbra
