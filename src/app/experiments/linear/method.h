/// What is compared: a sampler with its settings for a problem, and what the paper found.
#pragma once

#include <optional>

#include "app/experiments/linear/problem.h"

namespace penumbra::app::linear {

struct Method {
  std::string name;       ///< as in the paper's tables
  std::string sampler;    ///< the configuration's `sampler` section, YAML; keys left out are derived
  bool denoiser = false;  ///< takes the problem's denoiser in place of its prior
};

/// The MAP methods, the sampling baselines and ours, set for this problem; `steps` of every sampler where it is not 0.
std::vector<Method> methods(const Problem& problem, bool quick, int64_t steps = 0);
/// The variants of PnP-ULA, and APMC-RED beside them.
std::vector<Method> pnp_ula_methods(const Problem& problem, bool quick, int64_t steps = 0);
/// The networks trained for either acceleration, and APMC as in `methods`.
std::vector<Method> varnet_methods(const Problem& problem, bool quick, int64_t steps = 0);

/// What the paper's tables have for a method on a task; nothing where they do not have it.
struct PaperRow {
  double psnr;
  std::optional<double> nll, mae, sd;
};
std::optional<PaperRow> paper_row(const std::string& method, const std::string& task);

}  // namespace penumbra::app::linear
