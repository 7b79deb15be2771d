#include "diagnostics/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace penumbra::diagnostics {
namespace {

// Two digits, upwards: a recommendation of 1,287 chains would pretend to know.
int64_t round_up(double number) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(number, 1.0))) - 1));
  return static_cast<int64_t>(unit * std::ceil(number / unit * (1 - 1e-12)));
}

std::string percent(double share) {
  return share < 0.0995 ? fmt::format("{:.2g} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

/// The level of a number that is better the smaller.
std::string level(double number, double good, double note, double warning) {
  return number <= good ? "good" : number <= note ? "note" : number <= warning ? "warning" : "bad";
}

std::string chains(int64_t count) { return count == 1 ? "1 chain" : fmt::format("{} chains", count); }

Verdict split_verdict(const Convergence& c, Chains came) {
  const auto judged = level(c.rhat_p95, c.rhat_threshold, 1.1, 1.5);
  const auto found =
      fmt::format("95 % of the pixels have split R-hat below {:.3g} (worst {:.3g})", c.rhat_p95, c.rhat_max);
  if (judged == "good") return {judged, "convergence", found + ": each chain explores what all of them do"};
  if (came == Chains::annealed && judged == "bad")
    return {
        "warning", "convergence",
        fmt::format("mean and SD are those of {} separate draws, as good as the annealing was slow (compare a run of "
                    "twice the steps): the chains stay where it left them, {} where {} is the aim",
                    c.chains, found, c.rhat_threshold)};
  return {
      judged, "convergence",
      found + fmt::format("; {} is the aim: the chains do not yet agree, run longer or start later", c.rhat_threshold)};
}

// Agreement of the groups is necessary and far from sufficient: see convergence.h.
Verdict nested_verdict(const Convergence& c) {
  const auto found = fmt::format("95 % of the pixels have nested R-hat below {:.3g}", c.rhat_p95);
  if (!(c.rhat_p95 <= c.rhat_threshold))
    return {"warning", "convergence",
            found + fmt::format("; groups of equal chains stay below {:.3g}: the groups disagree, look for chains that "
                                "share a start, a seed or a device",
                                c.rhat_threshold)};
  if (c.records == 1)
    return {"note", "convergence",
            found +
                ": the groups of chains agree, but one record a chain cannot show whether the start is forgotten; "
                "record 8 or more"};
  return {"good", "convergence",
          found + ": the groups of chains agree; whether they have settled is judged by the drift"};
}

Verdict rhat_verdict(const Convergence& c, Chains came) {
  if (c.rhat_kind == "split") return split_verdict(c, came);
  if (c.rhat_kind == "nested") return nested_verdict(c);
  return {"warning", "convergence",
          fmt::format("{} with {} recorded: too few to judge convergence; record 4 or more, or run 16 chains or more",
                      chains(c.chains), c.records == 1 ? "1 iterate" : fmt::format("{} iterates", c.records))};
}

Verdict drift_verdict(const EnsembleDrift& drift) {
  if (drift.p > 0.01)
    return {"good", "drift", fmt::format("no drift between the earlier and the later records (p = {:.2g})", drift.p)};
  const auto judged = level(drift.size, 0, 0.1, 0.5);
  return {judged == "good" ? "note" : judged, "drift",
          fmt::format("the ensemble still moves: by {:.2g} SD from the earlier to the later records (p = {:.2g}); "
                      "{}",
                      drift.size, drift.p, judged == "bad" ? "run longer, and record later" : "record later")};
}

// Errors fall as one over the root of the number of draws. More records help only where they are new draws.
std::string advice(const Convergence& c, double error, double aim) {
  const auto factor = std::pow(error / aim, 2);
  const auto enough = round_up(static_cast<double>(c.chains) * factor);
  auto text = fmt::format("run at least {} chains for {}", enough, percent(aim));
  if (c.ess_median > 2 * static_cast<double>(c.chains)) text += fmt::format(", or {} times longer", round_up(factor));
  return text;
}

Verdict mean_verdict(const Convergence& c) {
  constexpr double aim = 0.1;
  const auto judged = level(c.mcse_mean_relative, aim, 0.2, 0.5);
  auto text = fmt::format("the mean map's Monte-Carlo error is {} of the SD; {:.3g} effective draws (least {:.3g})",
                          percent(c.mcse_mean_relative), c.ess_median, c.ess_min);
  if (judged != "good") text += ": " + advice(c, c.mcse_mean_relative, aim);
  return {judged, "mean", text};
}

Verdict sd_verdict(const Convergence& c) {
  constexpr double aim = 0.05;
  // Known to a third, it still tells which pixels to believe; five chains or fewer do not know it so well.
  const auto judged = level(c.mcse_sd_relative, aim, 0.1, 0.35);
  auto text = fmt::format("the SD map has {} Monte-Carlo error", percent(c.mcse_sd_relative));
  if (judged != "good")
    text += fmt::format("; {} {} few: {}", chains(c.chains), c.chains == 1 ? "is" : "are",
                        advice(c, c.mcse_sd_relative, aim));
  return {judged, "sd", text};
}

}  // namespace

std::vector<Verdict> verdicts(const Convergence& c, Chains came) {
  if (c.chains * c.records < 2)
    return {{"bad", "sd", "a single draw has no SD and shows no convergence; run more chains"}};
  std::vector<Verdict> list;
  if (c.broken_pixels > 0)
    list.push_back({"bad", "pixels",
                    fmt::format("{} of {} pixels have draws that are not finite: the chains diverged, lower the step "
                                "size",
                                c.broken_pixels, c.pixels)});
  if (c.constant_pixels > 0)
    list.push_back({"note", "pixels",
                    fmt::format("{} of {} pixels never change; their SD of 0 says nothing about the posterior "
                                "unless they are known",
                                c.constant_pixels, c.pixels)});
  if (c.broken_pixels + c.constant_pixels >= c.pixels) return list;
  list.push_back(rhat_verdict(c, came));
  if (c.drift) list.push_back(drift_verdict(*c.drift));
  list.push_back(mean_verdict(c));
  list.push_back(sd_verdict(c));
  return list;
}

Verdict misfit_verdict(const std::string& term, double chi2, int64_t data_count) {
  const double sd = std::sqrt(2 / static_cast<double>(std::max<int64_t>(data_count, 1)));
  // A likelihood of one kind of data calls it "data"; of several kinds the sentence must say which.
  const auto found =
      fmt::format("chi2 per datum{} is {:.4g}, expected 1 +- {:.2g}", term == "data" ? "" : " of " + term, chi2, sd);
  if (std::abs(chi2 - 1) <= 3 * sd) return {"good", term, found + ": the data are explained to their noise"};
  const auto judged = std::abs(chi2 - 1) <= 0.1 ? "note" : chi2 > 0.5 && chi2 < 2 ? "warning" : "bad";
  if (chi2 < 1) return {judged, term, found + ": over-fits, noise_sd may be overestimated"};
  return {judged, term,
          found +
              ": the data are not explained; the chains have not converged, noise_sd is too small or the model is "
              "wrong"};
}

Verdict step_verdict(double step, std::optional<double> stability_limit, std::optional<double> theorem_limit,
                     const std::optional<StepClause>& measured) {
  std::string text = fmt::format("step size {:.3g}", step), judged = "good";
  if (stability_limit && !(step < *stability_limit))
    return {"bad", "step_size",
            text + fmt::format(" is not below the stability limit {:.3g}: lower it", *stability_limit)};
  if (stability_limit) {
    const double share = step / *stability_limit;
    const double excess = measured ? measured->excess : share / (1 - share);
    text += fmt::format(" is {} of the stability limit; ", percent(share));
    text += measured ? measured->text
                     : fmt::format("the variance of the stiffest direction comes out {} too large", percent(excess));
    judged = level(excess / (1 + excess), 0.1, 0.2, 1);
  } else {
    text += "; no stability limit is known for this problem, watch for chains that diverge";
    judged = "note";
  }
  if (theorem_limit && step > *theorem_limit) {
    text += fmt::format("; the theorem's bound holds up to {:.3g} only", *theorem_limit);
    if (judged == "good") judged = "note";
  }
  return {judged, "step_size", text};
}

/// 57 % is best for many unknowns (Roberts and Rosenthal 1998), and nothing much is lost from 20 to 90 %.
Verdict acceptance_verdict(double step, double accepted) {
  const auto found = fmt::format(
      "step size {:.3g}: {} of the proposals were taken, and the Metropolis test leaves no "
      "bias of the step",
      step, percent(accepted));
  if (accepted > 0.9) return {"note", "step_size", found + "; longer steps would mix faster"};
  if (accepted >= 0.2) return {"good", "step_size", found};
  return {accepted >= 0.02 ? "warning" : "bad", "step_size", found + "; the chains hardly move, take shorter steps"};
}

}  // namespace penumbra::diagnostics
