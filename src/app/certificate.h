/// What the theory says of one configuration: the constants of Theorems 1-4, the steps they allow, and the bound.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "app/pilot.h"
#include "theory/bounds.h"

namespace penumbra::app {

/// A number and where it comes from: "exact", "estimated", "unknown", with the reason.
struct Constant {
  std::optional<double> value;
  std::string status = "unknown", how;
};

struct AdmissibleStep {
  theory::Theorem theorem;
  double largest = 0;
  bool satisfied = false;
};

struct Measured {
  double fisher_information = 0;  ///< time average along the exact law
  bool exact = true;              ///< false: the start is not normal, so this is a lower value
};

struct Certificate {
  std::string sampler;
  int64_t n = 0, steps = 0;
  double gamma = 0;
  std::optional<theory::Theorem> theorem;  ///< the one that covers the sampler
  Constant L_g, L_p, L_sigma, stiffness, KL0, C, R_g, R_s, eps;
  std::vector<AdmissibleStep> admissible;
  double stable_below = 0;          ///< stability limit over the whole schedule
  double stable_below_settled = 0;  ///< after annealing
  std::optional<theory::Bound> bound;
  std::optional<Measured> measured;
  std::vector<std::string> caveats;
};

Certificate make_certificate(const Problem& problem, const PilotOptions& options);

nlohmann::json to_json(const Certificate& certificate);
std::string to_text(const Certificate& certificate);

}  // namespace penumbra::app
