/// A run's state on disk. A checkpoint is a folder that appears whole: it is written beside, flushed, then renamed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/tensor.h"

namespace penumbra {

struct Checkpoint {
  int64_t k = 0;
  double seconds = 0;
  std::map<std::string, Tensor> tensors;
};

/// Saves under `folder`/<k>, then removes older ones.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

/// The number of steps in the newest one, if any.
std::optional<int64_t> newest_checkpoint(const std::filesystem::path& folder);

/// The newest one, if any; what an interrupted write left behind is ignored.
std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& folder);

/// Removes `folder` in one move, so that a kill leaves a whole checkpoint or none.
void drop_checkpoint(const std::filesystem::path& folder);

}  // namespace penumbra
