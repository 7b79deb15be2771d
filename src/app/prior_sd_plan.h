/// `output.prior_sd`: where the prior's own spread is from, with which that of the samples is compared.
#pragma once

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::app {

struct PriorSdPlan {
  enum class Source {
    stored,  ///< exact for analytic priors, from the file of weights for learned ones
    draws,   ///< the same where it is there, else from draws of the prior
    none,
    file,
  };
  Source source = Source::stored;
  std::string name;  ///< of the file
  Tensor sd;         ///< of the file, [image]
};

PriorSdPlan prior_sd_setting(Settings& output, const Shape& image_shape);

}  // namespace penumbra::app
