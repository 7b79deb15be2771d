/// Do a run's samples come from the posterior? The kernel Stein discrepancy of the chains' last iterates, in words.
///
/// Asked of the iterates themselves: a denoised or aligned image is no draw of the posterior with the smoothed prior.
/// The score of a shifted mean is the shift times the curvature: shifts are seen in stiff directions, and chains that
/// have not settled in the slow ones can pass. A wrong SD is seen only where there are many samples for the number of
/// unknowns (stein.h), wrong weights of separated modes hardly at all.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

#include "app/mode_weights.h"
#include "diagnostics/verdict.h"
#include "theory/stein.h"

namespace penumbra::app {

inline constexpr int64_t fewest_for_stein = 8;  ///< fewer signs to flip than that cannot give a p-value below 0.01
inline constexpr int64_t most_for_stein = 100;  ///< samples, and so evaluations of the score

struct SteinCheck {
  std::optional<theory::Stein> found = {};
  std::string why = {};  ///< there is none
  int64_t samples = 0, unknowns = 0;
  double sigma = 0;

  /// The least factor by which an SD can be too large and be seen; nothing where none is.
  std::optional<double> visible_sd_factor() const;
};

struct SteinPlan {
  int64_t batch = 0;  ///< samples whose score is taken together; 0: all
  uint64_t seed = 0;  ///< of the bootstrap
};

/// x: [chains, image], one iterate a chain.
SteinCheck check_stein(const Tensor& x, const OddsSource& source, const SteinPlan& plan);

/// `stein` of summary.json's diagnostics.
nlohmann::json to_json(const SteinCheck& check);

/// `weight`: alpha of the last step; another weight than 1 is another posterior.
diagnostics::Verdict verdict_on(const SteinCheck& check, double weight = 1);

}  // namespace penumbra::app
