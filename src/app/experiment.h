/// An experiment of the paper that a user can rerun: `extern const ExperimentEntry statistical{...}` in its own file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace penumbra::app {

struct ExperimentOptions {
  std::filesystem::path out;
  bool quick = false;
  uint64_t seed = 1;
  std::filesystem::path images;  ///< a folder of images, where the experiment can use one
};

struct ExperimentEntry {
  std::string name;
  std::string summary;
  int (*run)(const ExperimentOptions& options);
};

const std::vector<const ExperimentEntry*>& experiment_entries();

}  // namespace penumbra::app
