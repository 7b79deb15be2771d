/// A run folder as the report reads it: what `penumbra sample` and `penumbra evaluate` left behind.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "report/csv.h"

namespace penumbra::report {

struct RunFolder {
  std::filesystem::path path;
  std::string config;                    ///< config.yaml as text
  nlohmann::json summary;                ///< summary.json
  bool has_answer = true;                ///< a run that diverged has no arrays; they are then undefined
  Tensor samples;                        ///< [chains, C, H, W]
  Tensor mean, sd;                       ///< [C, H, W]
  Tensor quantiles;                      ///< [5, C, H, W]: 0.5, 2.5, 50, 97.5 and 99.5 %
  Columns trace;                         ///< trace.csv
  std::vector<std::string> trace_names;  ///< its columns in order
  std::optional<Tensor> truth, observation;
  std::optional<Tensor> data_share;  ///< data_share.npy: of the prior's SD, what the data removed; NaN: there is none
  std::optional<Tensor> extrapolated_mean, extrapolated_sd;  ///< after `penumbra extrapolate`
  std::optional<nlohmann::json> metrics;
  std::optional<nlohmann::json> modes;       ///< modes.json; `modes` in it is a list of objects, one for each mean
  std::vector<Tensor> mode_means, mode_sds;  ///< modes/mean-1.npy and so on, [C, H, W]
  std::optional<Tensor> aligned_mean, aligned_sd;  ///< of the samples moved onto one another, where they were
  std::optional<Columns> ring;                     ///< ring.csv
  std::optional<Csv> visibilities;                 ///< visibilities.csv: what an interferometer measured
};

/// Throws InputError naming the file where a required one is missing or any one is not what it should be. The arrays
/// are not required of a run whose summary says that it did not finish.
RunFolder read_run(const std::filesystem::path& run);

/// The number at summary.a.b..., absent where any step is missing or not a number.
std::optional<double> number_at(const nlohmann::json& json, const std::vector<std::string>& keys);

/// The text there; numbers, booleans and lists as JSON writes them; empty where absent or null.
std::string text_at(const nlohmann::json& json, const std::vector<std::string>& keys);

}  // namespace penumbra::report
