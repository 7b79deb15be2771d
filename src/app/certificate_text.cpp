/// A certificate as JSON and as a page of text.
#include <fmt/format.h>

#include "app/certificate.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

json to_json(const Constant& constant) {
  json result{{"value", number(constant.value)}, {"status", constant.status}};
  if (!constant.how.empty()) result["how"] = constant.how;
  return result;
}

const char* algorithm(theory::Theorem theorem) {
  switch (theorem) {
    case theory::Theorem::t1:
      return "PMC-RED";
    case theory::Theorem::t2:
      return "PMC-PnP";
    case theory::Theorem::t3:
      return "APMC-RED";
    case theory::Theorem::t4:
      return "APMC-PnP";
  }
  return "";
}

std::string line(const char* name, const char* meaning, const Constant& c) {
  const auto value = c.value ? fmt::format("{:.5g}", *c.value) : "-";
  return fmt::format("  {:<8} {:<46} {:>12}  {}{}\n", name, meaning, value, c.status,
                     c.how.empty() ? "" : fmt::format(" ({})", c.how));
}

std::string term(const char* name, const std::optional<double>& value) {
  return fmt::format("  {:<32} {:>12}\n", name, value ? fmt::format("{:.5g}", *value) : "unknown");
}

std::string constants_text(const Certificate& c) {
  std::string text = "Constants\n";
  text += line("L_g", "Lipschitz constant of grad g", c.L_g);
  text += line("L_p", "of the prior's score without smoothing", c.L_p);
  text += line("L_sigma", "of the smoothed score, largest on the schedule", c.L_sigma);
  text += line("alpha L", "the same times the prior's weight, largest", c.stiffness);
  text += line("eps", "bound on the score's error", c.eps);
  text += line("KL_0", "KL of the start from the posterior", c.KL0);
  text += line("C", "score mismatch by sigma", c.C);
  text += line("R_g", "size of grad g", c.R_g);
  text += line("R_s", "size of the score", c.R_s);
  return text;
}

std::string steps_text(const Certificate& c) {
  auto text = fmt::format("\nStep size {:g}\n", c.gamma);
  for (const auto& [theorem, largest, satisfied] : c.admissible)
    text += fmt::format("  {} {:<9} allows {:>11.4g}  {}{}\n", theory::name_of(theorem), algorithm(theorem), largest,
                        satisfied ? "satisfied" : fmt::format("exceeded {:.3g} times", c.gamma / largest),
                        c.theorem == theorem ? "  <- this sampler" : "");
  const auto verdict = [&](double limit) { return c.gamma < limit ? "stable" : "may be unstable"; };
  const auto stability = [&](double limit, const char* when) {
    return fmt::format("  stability    below  {:>11.4g}  {}{}\n", limit, verdict(limit), when);
  };
  if (c.stable_below == c.stable_below_settled) return text + stability(c.stable_below, "");
  text += stability(c.stable_below, " while annealing");
  text += stability(c.stable_below_settled, " once settled");
  return text;
}

std::string bound_text(const Certificate& c) {
  const auto& b = *c.bound;
  auto text = fmt::format("\nBound on the time-averaged Fisher information ({}, {} steps)\n",
                          theory::name_of(*c.theorem), c.steps);
  text += term("start, 4 KL_0 / (N gamma)", b.initial) + term("annealing, zeta / N", b.annealing) +
          term("discretisation", b.discretisation) + term("score mismatch", b.mismatch) +
          term("score approximation", b.approximation);
  text += fmt::format("  {:<32} {:>12.5g}\n", b.complete() ? "sum" : "sum of the known terms (no bound)", b.sum());
  if (!c.measured) return text;
  text += fmt::format("  {:<32} {:>12.5g}\n", c.measured->exact ? "measured, exact law" : "measured, at least",
                      c.measured->fisher_information);
  if (b.complete())
    text += fmt::format("  {:<32} {:>12.4g}\n", "bound / measured", b.sum() / c.measured->fisher_information);
  return text;
}

/// Words in lines of at most 100 characters.
std::string wrapped(const std::string& sentence) {
  std::string text = "  -";
  size_t length = text.size();
  for (size_t at = 0; at < sentence.size();) {
    const auto end = std::min(sentence.find(' ', at), sentence.size());
    if (length + 1 + end - at > 100) text += "\n   ", length = 3;
    text.append(" ").append(sentence, at, end - at);
    length += 1 + end - at;
    at = end + 1;
  }
  return text + "\n";
}

}  // namespace

json to_json(const Certificate& c) {
  json result{{"sampler", c.sampler}, {"unknowns", c.n}, {"steps", c.steps}, {"step_size", c.gamma}};
  result["theorem"] = c.theorem ? json(theory::name_of(*c.theorem)) : json(nullptr);
  result["constants"] = {{"L_g", to_json(c.L_g)},
                         {"L_p", to_json(c.L_p)},
                         {"L_sigma", to_json(c.L_sigma)},
                         {"alpha_L_sigma", to_json(c.stiffness)},
                         {"eps", to_json(c.eps)},
                         {"KL_0", to_json(c.KL0)},
                         {"C", to_json(c.C)},
                         {"R_g", to_json(c.R_g)},
                         {"R_s", to_json(c.R_s)}};
  for (const auto& [theorem, largest, satisfied] : c.admissible)
    result["admissible_step"][theory::name_of(theorem)] = {{"largest", number(largest)}, {"satisfied", satisfied}};
  result["stability"] = {
      {"annealing", {{"below", number(c.stable_below)}, {"satisfied", c.gamma < c.stable_below}}},
      {"settled", {{"below", number(c.stable_below_settled)}, {"satisfied", c.gamma < c.stable_below_settled}}}};
  result["bound"] = nullptr;
  if (c.bound)
    result["bound"] = {{"initial", number(c.bound->initial)},
                       {"annealing", number(c.bound->annealing)},
                       {"discretisation", number(c.bound->discretisation)},
                       {"mismatch", number(c.bound->mismatch)},
                       {"approximation", number(c.bound->approximation)},
                       {"sum", number(c.bound->sum())},
                       {"complete", c.bound->complete()}};
  result["measured"] = nullptr;
  if (c.measured) {
    result["measured"] = {{"averaged_fisher_information", number(c.measured->fisher_information)},
                          {"exact", c.measured->exact}};
    if (c.bound && c.bound->complete())
      result["measured"]["bound_ratio"] = number(c.bound->sum() / c.measured->fisher_information);
  }
  result["caveats"] = c.caveats;
  return result;
}

std::string to_text(const Certificate& c) {
  auto text = fmt::format("{}: {} unknowns, {} steps, step size {:g}\n\n", c.sampler, c.n, c.steps, c.gamma);
  text += constants_text(c) + steps_text(c);
  if (c.bound) text += bound_text(c);
  text += "\nTo be read with care\n";
  for (const auto& caveat : c.caveats) text += wrapped(caveat);
  return text;
}

}  // namespace penumbra::app
