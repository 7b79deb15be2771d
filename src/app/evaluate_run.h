/// Compares a run with the truth.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "core/tensor.h"

namespace penumbra::app {

/// Writes RUN/metrics.json and RUN/truth.npy, and the report again. `name` stands for the truth in messages. Where the
/// data leave the position free, the aligned samples are compared, with the truth moved onto their mean
/// (modes/aligned-truth.npy).
nlohmann::json evaluate_run(const std::filesystem::path& run, const Tensor& truth, const std::string& name);

void print_metrics(const nlohmann::json& metrics);

}  // namespace penumbra::app
