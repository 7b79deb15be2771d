/// What the numbers mean, in sentences that say what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnostics/assess.h"

namespace penumbra::diagnostics {

struct Verdict {
  std::string level;  ///< good | note | warning | bad
  std::string about;  ///< convergence | drift | mean | sd | pixels | data | the data term's name | step_size
  std::string text;
};

/// How the chains came where they are: annealed ones are separate draws even if they do not move on from there.
enum class Chains { stationary, annealed };

/// On convergence, drift, Monte-Carlo error of mean and SD, broken and constant pixels; those that apply.
std::vector<Verdict> verdicts(const Convergence& convergence, Chains came = Chains::stationary);

/// chi2: squared residual over noise variance per datum, averaged over the draws. Draws of the posterior have
/// expectation 1 and SD sqrt(2 / data_count), over data sets drawn from the model. Beyond three SD the fit is off;
/// by less than a tenth, which many data make significant however small, that is only noted.
Verdict misfit_verdict(const std::string& term, double chi2, int64_t data_count);

/// What the step does to the samples, where that was measured.
struct StepClause {
  double excess = 0;  ///< of the variance, as a share of it
  std::string text;
};

/// stability_limit: 2 / L, above which the iteration diverges. theorem_limit: up to which the paper's bounds hold.
/// Below stability, the discretization multiplies the variance of the stiffest Gaussian direction by
/// 1 / (1 - step / stability_limit): said where nothing better is known.
Verdict step_verdict(double step, std::optional<double> stability_limit, std::optional<double> theorem_limit,
                     const std::optional<StepClause>& measured = {});

/// Of a chain with a Metropolis test: the share of the proposals that it took.
Verdict acceptance_verdict(double step, double accepted);

}  // namespace penumbra::diagnostics
