/// A task made concrete: test images, their measurements at 40 dB, the prior and the denoiser of the MAP methods.
#pragma once

#include <filesystem>

#include "app/experiments/linear/many_images.h"
#include "app/experiments/linear/task.h"
#include "priors/score.h"

namespace penumbra::app::linear {

struct Problem {
  Task task;
  Placement placement;
  std::vector<std::string> names;  ///< of the images
  std::string source;              ///< of the images, in words
  std::string fingerprint;         ///< of the images
  Tensor truths;                   ///< [images, 1, H, W] on the CPU
  std::shared_ptr<const ForwardModel> A;
  Tensor y;                    ///< [images, data]
  double beta = 0;             ///< SD of the noise, one for all images
  std::vector<double> snr_db;  ///< of each image
  double norm_sq = 0;          ///< |A|^2
  std::shared_ptr<const Score> prior;
  std::shared_ptr<const Score> denoiser;  ///< of PnP and RED
  std::string denoiser_name;
  std::vector<std::filesystem::path> files;  ///< weights of prior and denoiser

  /// The likelihood of images [first, first + count), `chains` chains each.
  std::shared_ptr<const Likelihood> likelihood(int64_t first, int64_t count, int64_t chains) const;
  /// A^T y, [images, 1, H, W].
  Tensor adjoint() const;
};

struct ProblemOptions {
  std::filesystem::path images;    ///< folder; empty: draws of the prior
  std::filesystem::path denoiser;  ///< weights of DnCNN for noise 25/255 on [0, 1]; empty: the prior denoises
  int64_t count = 10;
  uint64_t seed = 1;
  double snr_db = 40;  ///< |A x| over the expected norm of the noise, mean over the images
  Placement placement;
};

Problem make_problem(const Task& task, const ProblemOptions& options);

}  // namespace penumbra::app::linear
