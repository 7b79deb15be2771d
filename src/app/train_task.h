/// The section `task` of a training configuration, and what the images have to say about it.
#pragma once

#include "likelihoods/gaussian.h"
#include "networks/header.h"
#include "training/images.h"
#include "training/reconstruction.h"

namespace penumbra::app {

/// Measurements of training images: y = A x + noise of one level for all of them, as a scanner has.
struct ReconstructionPlan {
  std::shared_ptr<const GaussianLikelihood> likelihood;
  std::optional<double> snr_db;  ///< mean over the images of |A x| over the noise's expected norm; none: the
                                 ///< likelihood's own noise
  std::string said;              ///< the section `likelihood`, every key but its noise
};

/// Nothing where the task is denoising.
std::optional<ReconstructionPlan> task_setting(Settings section, const Shape& image_shape, const Placement& placement);

/// The task on these images; `record`, the header's, says from what the network learns to reconstruct.
std::shared_ptr<const training::Task> make_task(const ReconstructionPlan& plan, const training::ImageSet& images,
                                                const Placement& placement, nlohmann::json& record);

/// The SD of the training pixels, which a denoiser is told.
double pixel_spread(const training::ImageSet& images);

}  // namespace penumbra::app
