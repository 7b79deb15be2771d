#include "app/experiments/linear/task.h"

namespace penumbra::app::linear {

std::vector<Task> cs_tasks(bool quick) {
  const std::string prior = quick ? "face-64" : "face-128";
  return {{"cs-0.1", "m/n = 0.1", Subject::face, prior, "{kind: gaussian, ratio: 0.1, matrix_seed: 1, noise_sd: 1}"},
          {"cs-0.3", "m/n = 0.3", Subject::face, prior, "{kind: gaussian, ratio: 0.3, matrix_seed: 1, noise_sd: 1}"}};
}

std::vector<Task> mri_tasks(bool quick) {
  // A line crosses the whole of k-space: the same acceleration takes lines in proportion to the side.
  const std::string prior = quick ? "brain-64" : "brain-256";
  const std::string few = quick ? "8" : "32", many = quick ? "16" : "64";
  return {
      {"mri-8x", "8x", Subject::brain, prior, "{kind: mri, mask: {kind: radial, lines: " + few + "}, noise_sd: 1}"},
      {"mri-4x", "4x", Subject::brain, prior, "{kind: mri, mask: {kind: radial, lines: " + many + "}, noise_sd: 1}"}};
}

}  // namespace penumbra::app::linear
