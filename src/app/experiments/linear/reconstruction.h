/// One method on one problem: all images, all chains, and what came out. A Langevin chain gives mean and SD by the
/// recorded iterates of its last tenth, DPS and the MAP methods by their last.
#pragma once

#include <functional>

#include "app/experiments/linear/method.h"
#include "run/start.h"

namespace penumbra::app::linear {

/// Of one image.
struct Quality {
  double psnr = 0;  ///< the paper's convention: peak 1, mean clipped to [-1, 1]
  double mse = 0, mae = 0, ssim = 0;
  double nll = 0, sd = 0, coverage = 0;  ///< coverage: of 3 SD; zero for a MAP method, like the others of this line
  double correlation = 0;                ///< Spearman's, of error and SD
};

/// Its numbers by name, for files.
struct QualityField {
  const char* name;
  double Quality::*value;
};
const std::vector<QualityField>& quality_fields();

struct Reconstruction {
  std::string method, sampler;
  bool random = true;      ///< false: a MAP method, one chain, no standard deviation
  bool has_course = true;  ///< false: its iterates say nothing until the last, as those of DPS
  int64_t chains = 0, steps = 0;
  Tensor mean, sd;                                 ///< [images, 1, H, W] on the CPU; sd is undefined for a MAP method
  std::vector<Quality> images;                     ///< one an image
  std::vector<std::pair<int64_t, double>> course;  ///< step, PSNR of the chains' mean (the paper's), mean over images
  double seconds = 0;
  bool diverged = false;

  /// Mean over the images.
  double average(double Quality::*of) const;
};

/// A method's sampler for a posterior, every key that it leaves out derived.
struct Prepared {
  const SamplerEntry* entry = nullptr;
  std::unique_ptr<Sampler> sampler;
  int64_t steps = 0;
  Start start;
  std::string resolved;                      ///< its configuration, every key
  std::vector<std::filesystem::path> files;  ///< that it read
};
Prepared prepare(const Method& method, const Posterior& posterior, uint64_t seed);
Prepared prepare(Settings sampler, const Posterior& posterior, uint64_t seed);

struct SamplingOptions {
  int64_t chains = 20;
  uint64_t seed = 1;
  int64_t course_points = 40;
};

/// Called now and then with the share done.
using OnStep = std::function<void(const std::string& method, int64_t k, int64_t steps)>;

Reconstruction reconstruct(const Problem& problem, const Method& method, const SamplingOptions& options,
                           const OnStep& on_step);

/// What a finished one is kept as, so that an experiment that was stopped goes on: FOLDER/KEY.json, .mean.npy, .sd.npy.
void keep(const Reconstruction& reconstruction, const std::filesystem::path& folder, const std::string& key,
          const std::string& fingerprint);
/// Nothing where there is none, or where it was made from something else.
std::optional<Reconstruction> kept(const std::filesystem::path& folder, const std::string& key,
                                   const std::string& fingerprint);

}  // namespace penumbra::app::linear
