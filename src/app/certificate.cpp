#include "app/certificate.h"

#include <ATen/ATen.h>

#include "app/exact_problem.h"
#include "app/step_limits.h"
#include "likelihoods/gaussian.h"
#include "theory/law_average.h"
#include "theory/lipschitz.h"

namespace penumbra::app {
namespace {

using theory::BoundInputs;
using theory::Theorem;

Constant exact(double value, std::string how = "") { return {value, "exact", std::move(how)}; }
Constant estimated(std::optional<double> value, std::string how) {
  if (!value) return {std::nullopt, "unknown", std::move(how)};
  return {value, "estimated", std::move(how)};
}
Constant unknown(std::string why) { return {std::nullopt, "unknown", std::move(why)}; }

/// L_sigma along the schedule. Between two measured levels the larger counts.
std::vector<double> score_constants(const Problem& problem, const std::vector<Level>& levels) {
  const auto* prior = analytic_prior(problem);
  const bool gaussian = prior && prior->components().size() == 1;
  const double smallest = gaussian ? prior->components()[0].covariance->smallest_variance() : 0;
  std::vector<double> constants;
  for (int64_t k = 0; k < problem.plan.steps; ++k) {
    const double sigma = problem.sampler->annealing(k).sigma;
    const auto above = std::find_if(levels.begin(), levels.end() - 1, [k](const Level& level) { return level.k >= k; });
    const auto below = above == levels.begin() || k >= above->k ? above : above - 1;
    constants.push_back(gaussian ? 1 / (smallest + sigma * sigma) : std::max(above->L_sigma, below->L_sigma));
  }
  return constants;
}

class Maker {
 public:
  Maker(const Problem& problem, const PilotOptions& options)
      : problem_(problem), options_(options), pilot_(run_pilot(problem, options)), exact_(exact_problem(problem)) {}

  Certificate make() {
    certificate_.sampler = problem_.sampler_kind;
    certificate_.n = element_count(problem_.posterior.image_shape());
    certificate_.steps = problem_.plan.steps;
    certificate_.gamma = problem_.sampler->step_size();
    certificate_.theorem = covering_theorem(problem_);
    lipschitz_constants();
    norms();
    steps();
    if (certificate_.theorem) certificate_.bound = theory::bound(inputs(*certificate_.theorem));
    caveats();
    return std::move(certificate_);
  }

 private:
  void lipschitz_constants() {
    const auto L_g = theory::likelihood_lipschitz(*problem_.posterior.likelihood, pilot_.points);
    certificate_.L_g = L_g.method == theory::Lipschitz::Method::formula
                           ? exact(L_g.value)
                           : estimated(L_g.value, fmt::format("largest at {} chains", pilot_.points.size(0)));
    L_sigma_ = score_constants(problem_, pilot_.levels);
    const auto* prior = analytic_prior(problem_);
    const bool gaussian = prior && prior->components().size() == 1;
    const auto known = [&](double value) {
      return gaussian ? exact(value) : estimated(value, "largest found at chains, prior draws and between modes");
    };
    double stiffest = 0;
    for (size_t k = 0; k < L_sigma_.size(); ++k)
      stiffest = std::max(stiffest, problem_.sampler->annealing(static_cast<int64_t>(k)).alpha * L_sigma_[k]);
    certificate_.L_sigma = known(*std::max_element(L_sigma_.begin(), L_sigma_.end()));
    certificate_.stiffness = known(stiffest);
    if (gaussian) {
      certificate_.L_p = exact(1 / prior->components()[0].covariance->smallest_variance());
    } else {
      const double least = exact_score(*problem_.posterior.prior).sigma_range().low;
      const auto level = measure_level(problem_, pilot_.points, least, options_);
      certificate_.L_p =
          estimated(level.L_sigma,
                    least == 0 ? known(0).how : fmt::format("at sigma = {:g}, the smallest this score knows", least));
    }
  }

  /// KL_0, C, R_g, R_s and the measured average: along the exact law if there is one, else from the pilot's chains.
  void norms() {
    const auto eps = problem_.posterior.prior->error_bound();
    certificate_.eps = eps ? exact(*eps) : unknown("the error of a learned score is not known");
    if (exact_ && certificate_.theorem) {
      try {
        return exact_norms();
      } catch (const c10::Error&) {
        certificate_.caveats.push_back(
            "The exact law's covariance is singular to rounding (an unstable step): it was not followed.");
      }
    }
    const auto where = fmt::format("{} pilot chains, {} steps", options_.chains, pilot_.steps);
    certificate_.KL0 = estimated(estimate_initial_kl(problem_), "start draws against the exact posterior");
    if (!certificate_.KL0.value)
      certificate_.KL0.how = "the posterior's normalisation, or the start's density, is not known";
    certificate_.C = estimated(pilot_.C, pilot_.C ? where : "the unsmoothed score is not known");
    certificate_.R_g = estimated(pilot_.R_g, where);
    certificate_.R_s = estimated(pilot_.R_s, where);
  }

  void exact_norms() {
    const auto step_at = [&](int64_t k) {
      return theory::LawStep{.gamma = certificate_.gamma,
                             .annealing = problem_.sampler->annealing(k),
                             .discretization = problem_.entry->discretization,
                             .score_noise = exact_->score_noise,
                             .score_bias = exact_->score_bias};
    };
    const int nodes = certificate_.n <= 64 ? 8 : certificate_.n <= 150 ? 4 : 2;
    const auto law = theory::average_along_law(exact_->problem, exact_->start, certificate_.steps, step_at, nodes);
    certificate_.KL0 = exact(law.KL0 + exact_->KL0_excess);
    certificate_.C = exact(law.C, "L2 norm along the exact law");
    certificate_.R_g = exact(law.R_g, "L2 norm along the exact law");
    certificate_.R_s = exact(law.R_s, "L2 norm along the exact law");
    certificate_.measured = Measured{law.fisher_information, exact_->normal_start};
  }

  BoundInputs inputs(Theorem theorem) const {
    BoundInputs in{.theorem = theorem,
                   .n = certificate_.n,
                   .gamma = certificate_.gamma,
                   .L_g = *certificate_.L_g.value,
                   .L_p = *certificate_.L_p.value,
                   .KL0 = certificate_.KL0.value,
                   .C = certificate_.C.value,
                   .R_g = certificate_.R_g.value,
                   .R_s = certificate_.R_s.value};
    for (int64_t k = 0; k < certificate_.steps; ++k)
      in.iterations.push_back(
          {problem_.sampler->annealing(k), L_sigma_[static_cast<size_t>(k)], certificate_.eps.value});
    return in;
  }

  void steps() {
    const auto settled = settled_at(*problem_.sampler, problem_.plan.steps);
    for (const auto theorem : {Theorem::t1, Theorem::t2, Theorem::t3, Theorem::t4}) {
      auto in = inputs(theorem);
      // T1 and T2 speak of one sigma and weight one: the schedule's end.
      if (!theory::is_annealed(theorem)) {
        in.iterations = {in.iterations.back()};
        in.iterations[0].annealing.alpha = 1;
      }
      const double largest = theory::admissible_step(in);
      certificate_.admissible.push_back({theorem, largest, certificate_.gamma <= largest});
    }
    auto in = inputs(theory::theorem_of(problem_.entry->discretization, true));
    for (auto& iteration : in.iterations)
      iteration.L_sigma = stability_constant(problem_, iteration.annealing.sigma, iteration.L_sigma);
    certificate_.stable_below = theory::stability_limit(in);
    certificate_.stable_below_settled = theory::stability_limit(in, static_cast<size_t>(settled));
  }

  void caveats();

  const Problem& problem_;
  const PilotOptions& options_;
  Pilot pilot_;
  std::optional<ExactProblem> exact_;
  std::vector<double> L_sigma_;
  Certificate certificate_;
};

/// What keeps the bound from being a guarantee here, in words.
void Maker::caveats() {
  auto& said = certificate_.caveats;
  const auto* prior = analytic_prior(problem_);
  if (!certificate_.theorem)
    said.push_back(fmt::format("No theorem of the paper covers the sampler {}.", problem_.sampler_kind));
  for (const auto& [theorem, largest, satisfied] : certificate_.admissible)
    if (certificate_.theorem == theorem && !satisfied)
      said.push_back(fmt::format("The step {:g} is above the {:g} that {} allows: the bound is not implied.",
                                 certificate_.gamma, largest, theory::name_of(theorem)));
  if (certificate_.gamma >= certificate_.stable_below)
    said.push_back(
        "The step is above the stability limit for part of the run: the iterates can grow by many orders of "
        "magnitude, and C, R_g and R_s are those of what grew.");
  if (problem_.sampler->annealing(certificate_.steps - 1).alpha > 1)
    said.push_back("The prior's weight alpha never reaches 1, which T3 and T4 require (erratum E3).");
  if (prior) {
    said.push_back(
        "Assumption 4 (a mismatch of at most sigma C everywhere) and Assumption 6 (a bounded score) are false "
        "for Gaussian priors: C and R_s are the largest L2 norms along the run, all that the proofs use "
        "(erratum E13).");
    if (prior->components().size() > 1)
      said.push_back(
          "Fisher information is nearly blind to the weights of separated modes: a small value does not say "
          "that the modes have the right weights.");
  } else {
    said.push_back(
        "Assumptions 2, 3 and 4 (Lipschitz constants and errors of the score everywhere) cannot be checked "
        "for a score known only at points.");
  }
  if (dynamic_cast<const GaussianLikelihood*>(problem_.posterior.likelihood.get()))
    said.push_back(
        "Assumption 5 (a bounded grad g) is false for Gaussian noise: R_g is the largest L2 norm along the "
        "run (erratum E13).");
  if (has_fresh_error(problem_))
    said.push_back(
        "A fresh random score error is no Lipschitz map (Assumption 3a, erratum E14): it acts as extra "
        "temperature.");
  if (certificate_.L_sigma.status == "estimated")
    said.push_back(
        "Estimated Lipschitz constants are the largest found, so the admissible steps may be smaller still.");
  if (certificate_.measured && !certificate_.measured->exact)
    said.push_back(
        "The start is uniform, not normal: the measured average is that of the normal law with its mean and "
        "covariance, which is a lower value.");
  if (pilot_.diverged)
    said.push_back(fmt::format("The pilot run diverged at step {}: its norms are those up to there.", pilot_.steps));
  else if (!certificate_.measured && pilot_.steps < certificate_.steps)
    said.push_back(fmt::format("The pilot run stopped after {} of {} steps.", pilot_.steps, certificate_.steps));
}

}  // namespace

Certificate make_certificate(const Problem& problem, const PilotOptions& options) {
  return Maker(problem, options).make();
}

}  // namespace penumbra::app
