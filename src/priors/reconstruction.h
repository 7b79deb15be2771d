/// A network that reconstructs, from its file: data in, image out. It knows no law of images, so it is no prior.
#pragma once

#include "core/settings.h"
#include "networks/header.h"

namespace penumbra {

class Reconstructor {
 public:
  /// `file` or `name` of the section, and in which type it computes. Throws InputError where the file holds a denoiser.
  explicit Reconstructor(Settings& settings);

  const NetworkHeader& header() const { return header_; }

  /// The image of the data behind G, in the precision and on the device of `like` [N, C, H, W].
  Tensor operator()(const DataGradient& G, const Tensor& like) const;

 private:
  std::string file_;
  NetworkHeader header_;
  std::map<std::string, Tensor> tensors_;  ///< on the CPU
  bool short_type_ = false;                ///< whether its corrections are computed in bfloat16
};

}  // namespace penumbra
