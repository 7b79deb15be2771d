/// The modes, the map and the rings of a run's samples, as files in its folder.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "app/mode_weights.h"
#include "app/modes_plan.h"
#include "core/random.h"
#include "diagnostics/verdict.h"
#include "likelihoods/likelihood.h"

namespace penumbra::app {

/// chi^2 of every sample, term by term.
std::vector<diagnostics::TermFit> fits_of(const Likelihood& likelihood, const Tensor& samples);

struct ModesFound {
  nlohmann::json summary;  ///< `modes` and, of the sky, `ring`, for summary.json
  diagnostics::Verdict verdict;
  /// Of the first samples, as many as were looked at; empty where all count the same.
  std::vector<double> sample_weights;
  std::string weighed_by = {};  ///< "odds", "fit"; empty where all count the same
};

/// Writes modes.json, modes/mean-1.npy, modes/sd-1.npy... and, of the sky, ring.csv. `samples` [N, C, H, W], finite, as
/// the likelihood takes them; of more than `diagnostics::most_on_map` the first, and of those, where the plan wants it,
/// only the ones that fit. With a source and where the plan wants
/// them, weights are odds, then also modes/weighted-mean.npy and modes/weighted-sd.npy of the samples; where samples
/// are aligned, modes/aligned-mean.npy and modes/aligned-sd.npy.
ModesFound write_modes(const std::filesystem::path& folder, const ModesPlan& plan, const Likelihood& likelihood,
                       const Tensor& samples, uint64_t seed, const OddsSource& source = {});

}  // namespace penumbra::app
