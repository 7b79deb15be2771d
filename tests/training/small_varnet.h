/// A variational network that a test can afford, and its header for 8x8 images.
#pragma once

#include "networks/header.h"

namespace penumbra::test {

inline NetworkHeader varnet_header(int64_t cascades = 2, int64_t channels = 1) {
  NetworkHeader header;
  header.name = "tiny";
  header.architecture = {{"kind", "varnet"},
                         {"in_channels", channels},
                         {"cascades", cascades},
                         {"model_channels", 6},
                         {"channel_mult", {1, 2}}};
  header.parameterisation.kind = Parameterisation::Kind::reconstruction;
  header.image_shape = {channels, 8, 8};
  return header;
}

}  // namespace penumbra::test
