/// The four linear inverse problems of the paper's Tables 3 to 8: compressed sensing of faces, radial MRI of brains.
#pragma once

#include <string>
#include <vector>

namespace penumbra::app::linear {

enum class Subject { face, brain };

struct Task {
  std::string key;    ///< "cs-0.1", also in file names
  std::string label;  ///< as the paper's tables head their columns
  Subject subject;
  std::string prior;  ///< a shipped prior
  std::string model;  ///< the likelihood whose forward model it is, YAML; the noise is set to 40 dB
};

/// The quick ones are at 64x64, with as many lines of k-space for their size.
std::vector<Task> cs_tasks(bool quick);
std::vector<Task> mri_tasks(bool quick);

}  // namespace penumbra::app::linear
