/// An experiment of the paper that a user can rerun: `extern const ExperimentEntry statistical{...}` in its own file.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

namespace penumbra::app {

struct ExperimentOptions {
  std::filesystem::path out;
  bool quick = false;
  uint64_t seed = 1;
  at::Device device = at::kCPU;         ///< where the experiment can use one
  std::filesystem::path images;         ///< a folder of images, where the experiment can use one
  std::filesystem::path faces, brains;  ///< test images of compressed sensing and of MRI
  std::filesystem::path denoiser;       ///< DnCNN's weights, for PnP and RED
  std::string prior;                    ///< of the interferometers' experiments; empty: the experiment's choice
  int64_t count = 0, chains = 0;        ///< images, and chains for each; 0: the experiment's choice
  int64_t steps = 0;                    ///< of every sampler; 0: each its own
  std::filesystem::path methods;        ///< a file of methods to compare in place of the experiment's own
  std::vector<std::string> tasks;       ///< by key; empty: all
};

struct ExperimentEntry {
  std::string name;
  std::string summary;
  int (*run)(const ExperimentOptions& options);
  bool takes_prior = false;  ///< ExperimentOptions::prior says something to it
};

const std::vector<const ExperimentEntry*>& experiment_entries();

}  // namespace penumbra::app
