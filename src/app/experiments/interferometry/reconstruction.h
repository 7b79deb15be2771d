/// One method on one sky, and how near it came: after the shift that closures leave free, for every method alike.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "app/experiments/interferometry/sky_case.h"
#include "app/experiments/linear/reconstruction.h"
#include "priors/score.h"

namespace penumbra::app::interferometry {

using linear::Method;

/// Of one image. What does not exist (the coverage of a method without SD, a ring where there is none) is NaN.
struct Quality {
  double psnr = 0;                            ///< dB; peak: the range of the truth
  double ncc = 0;                             ///< normalised cross-correlation of mean and truth
  double chi2_phase = 0, chi2_amplitude = 0;  ///< means over the samples
  /// The same over all samples, those that are left out too.
  double chi2_phase_all = 0, chi2_amplitude_all = 0;
  double coverage = 0;        ///< share of the pixels within 3 SD
  double sd = 0;              ///< mean over the pixels
  double diameter = 0;        ///< of the ring, mean over the samples that have one, microarcseconds
  double diameter_error = 0;  ///< its distance from the truth's
  double with_ring = 0;       ///< share of the samples
  /// Share of the samples that fit worse than draws of the posterior do; no number but those of all has them.
  double left_out = 0;
};

/// Its numbers by name, for files.
struct QualityField {
  const char* name;
  double Quality::*value;
};
const std::vector<QualityField>& quality_fields();

struct Reconstruction {
  std::string sampler;  ///< every key
  bool random = true;   ///< false: one image, no standard deviation
  int64_t chains = 0, steps = 0;
  Tensor mean, sd;  ///< float64 [1, H, W], moved onto the truth; sd is undefined for one image
  Quality quality;
  double seconds = 0;
  bool diverged = false;
};

/// Of two images, their means taken off: 1 for the same up to brightness and contrast.
double cross_correlation(const Tensor& a, const Tensor& b);

/// From those of all samples, [N, 1, H, W], that fit: moved onto one another, then their mean onto the truth.
Reconstruction judge(const SkyCase& sky, const Tensor& all);

/// What the last tenth of the steps left, every fifth iterate, of Langevin chains; the last iterate of others.
struct Sampled {
  Tensor samples;  ///< float64 [N, 1, H, W] on the CPU, chain by chain within an iterate
  Tensor last;     ///< the last iterates, [chains, 1, H, W]
  int64_t chains = 0;
  double seconds = 0;
};
using OnStep = std::function<void(int64_t k, int64_t steps)>;

struct SamplingOptions {
  int64_t chains = 20;
  uint64_t seed = 1;
  Placement placement;
};

/// The settings that a method leaves out are derived; `rml` is told what the flux says of the mean pixel.
linear::Prepared prepare(const Method& method, const SkyCase& sky, const std::shared_ptr<const Score>& prior,
                         uint64_t seed);

Sampled sample(const linear::Prepared& method, const std::shared_ptr<const Score>& prior,
               const SamplingOptions& options, const OnStep& on_step);

/// What a finished one is kept as, so that an experiment that was stopped goes on: FOLDER/KEY.json and KEY.npy.
void keep(const Reconstruction& reconstruction, const std::filesystem::path& folder, const std::string& key,
          const std::string& fingerprint);
/// Nothing where there is none, or where it was made from something else.
std::optional<Reconstruction> kept(const std::filesystem::path& folder, const std::string& key,
                                   const std::string& fingerprint);

}  // namespace penumbra::app::interferometry
