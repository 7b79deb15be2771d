#include "app/defaults.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/denoiser_curvature.h"
#include "samplers/mala.h"
#include "samplers/pmc.h"
#include "samplers/schedule.h"
#include "theory/bounds.h"
#include "theory/lipschitz.h"

namespace penumbra::app {
namespace {

// The constants of docs/samplers.md. Annealed chains: tuned on training images.
constexpr double annealed_resolution = 0.6;  // sigma_min over the SD of what the data determine best
constexpr double annealed_pull = 0.2;        // of the denoiser's correction in a step with all its momentum
// Where the data's noise is not annealed evenly: how much a step repeats of the last one, how alpha falls with sigma,
// how sigma falls, and in which share of the steps.
constexpr double annealed_momentum = 0.9, added_alpha_power = 3, added_rho = 2, added_share = 0.95;
constexpr double annealing_share = 0.9;  // of the steps; the others are taken when the schedule has settled
constexpr int64_t annealed_steps = 400;
constexpr double most_stretch = 4;  // of the step, where smooth images see less of the data than others
// Chains without annealing: first choices.
constexpr double resolution_multiple = 2;   // sigma over the SD of what the data determine best
constexpr double largest_smoothing = 0.02;  // sigma over the width of the pixels' range
constexpr double stability_share = 0.25;    // gamma over the stability limit
constexpr double mixing_times = 4;          // at alpha = 1
constexpr int64_t fewest_steps = 1000, most_steps = 4000;
// Variational inference: first choices, too; shares of the width of the pixels' range.
constexpr double variational_smoothing = 0.005, variational_start = 0.05;
constexpr double variational_steps = 4000;

/// Three digits: a rerun on another machine derives the same number, and a reader can say it.
double rounded(double value) { return std::stod(fmt::format("{:.3g}", value)); }
/// The same, but never above.
double round_down(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::floor(value / unit * (1 + 1e-12)) * unit;
}

/// The next power of 1.1: a GPU's sums differ from run to run, and the same problem should have the same settings.
double above(double value) { return std::pow(1.1, std::ceil(std::log(value) / std::log(1.1))); }

class Deriver {
 public:
  Deriver(Settings& sampler, const SamplerEntry& entry, const Posterior& posterior)
      : sampler_(sampler), entry_(entry), posterior_(posterior) {}

  std::vector<Derived> derive() {
    if (entry_.name == "dps")
      dps();
    else if (entry_.name == "score-dpi")
      variational();
    else if (entry_.name == "smc" || entry_.name == "replica")
      along_smoothing();
    else if (entry_.name == "annealed-langevin")
      unconditional();
    else if (entry_.name == "varnet")
      need("steps", [] { return Found{1, "one pass of the network is its answer"}; });
    else if (entry_.name == "rml")
      need("steps", [] { return Found{8, "cycles, each from a blurred image; later ones change little"}; });
    else if (entry_.name == "mala")
      adjusted();
    else if (entry_.langevin)
      langevin();
    else
      deterministic();
    return std::move(derived_);
  }

 private:
  void langevin() {
    const bool has_schedule = entry_.name == "apmc-pnp" || entry_.name == "apmc-red";
    if (has_schedule && sampler_.section("schedule").text("kind", "geometric") != "constant") return annealed();
    const auto smallest = has_schedule ? "schedule.sigma" : "sigma";
    if (!(entry_.name == "pnp-ula" && sampler_.text("variant", "cus") == "ori"))
      need(smallest, [&] { return last_level(smallest, resolution_multiple); });
    const double sigma = given(smallest) ? read(smallest) : 5.0 / 255;
    const double alpha = constant_weight(has_schedule);
    need("step_size", [&] { return step({sigma, alpha}); });
    need("steps", [&] { return length(); });
  }

  /// Whoever writes out step and schedule has the paper's algorithm; where they are derived, so is what makes the most
  /// of few steps.
  void annealed() {
    const bool own = given("step_size") && given("schedule.sigma_0") && given("schedule.sigma_min") &&
                     (!falls_geometrically() || given("schedule.xi"));
    if (!own) make_the_most_of_few_steps();
    // Asked for here, whether it is needed or not, so that the resolved configuration has one order.
    const bool added = sampler_.text("tempering", "scaled") == "added" && !own;
    through_denoiser_ = sampler_.text("likelihood_at", "iterate") == "denoised" && sampler_.flag("chain_rule", false);
    need("schedule.sigma_0", [&] { return first_level("schedule.sigma_0"); });
    need("schedule.sigma_min", [&] { return last_level("schedule.sigma_min", annealed_resolution); });
    // Here, for that order's sake, whoever gave them.
    if (!own || given("pull") || given("momentum")) reach(own, added);
    need("step_size", [&] { return annealed_step(); });
    need("steps", [&] { return Found{annealed_steps, "enough for most problems"}; });
    if (falls_geometrically()) {
      need("schedule.xi", [&] { return decay(); });
    } else {
      if (added)
        need("schedule.rho", [] { return Found{added_rho, "lingers where the coarse structure is decided"}; });
      else
        sampler_.section("schedule").number("rho", usual_rho, positive);
      const double share = added ? added_share : annealing_share;
      need("schedule.anneal_steps", [&] { return whole_steps(share); });
    }
    if (!own || given("prior_weight")) weigh_the_prior(added);
  }

  bool falls_geometrically() { return sampler_.section("schedule").text("kind", "geometric") == "geometric"; }

  void make_the_most_of_few_steps() {
    const std::vector<std::pair<const char*, const char*>> ways{
        {"noise", "warm"}, {"likelihood_at", "denoised"}, {"records", "denoised"}, {"chain_rule", "true"}};
    for (const auto& [key, word] : ways) sampler_.set_default(key, word);
    if (posterior_.likelihood->noisier(at::scalar_tensor(2, at::kDouble))) sampler_.set_default("tempering", "added");
    if (sampler_.text("tempering", "scaled") == "added" && !given("schedule.xi"))
      sampler_.set_default("schedule.kind", "power");
  }

  void weigh_the_prior(bool added) {
    if (given("prior_weight")) sampler_.number("prior_weight", positive);
    if (added)
      need("schedule.alpha_power", [] { return Found{added_alpha_power, "data that pull little are heard in time"}; });
    const double power = sampler_.section("schedule").number("alpha_power", papers_alpha_power, alpha_powers);
    need("schedule.alpha_0", [&] { return first_weight(power); });
  }

  /// A step and what momentum makes of it later move x by pull / (1 - momentum) of the denoiser's correction. Short
  /// steps with much momentum go as far at the same weight of the prior, with less error of the step.
  void reach(bool own, bool added) {
    if (added) need("momentum", [&] { return share_of_a_step(); });
    if (given("momentum")) momentum_ = sampler_.number("momentum", shares_of_a_step);
    if (!own || given("pull"))
      need("pull", [&] {
        return Found{annealed_pull * (1 - momentum_),
                     "a fifth of the denoiser's correction, at most, in a step and what momentum makes of it"};
      });
  }

  /// No smoothing: the prior is known as it is.
  void adjusted() {
    Mala::require_log_density(sampler_, *posterior_.prior);
    need("sigma", [] { return Found{0, "the posterior itself, without smoothing"}; });
    need("step_size", [&] {
      const double L_g = curvature("step_size"), sigma = read("sigma");
      const double L_p = theory::score_lipschitz(*posterior_.prior, *posterior_.prior->draw(1, {}), sigma).value;
      const double n = static_cast<double>(element_count(posterior_.image_shape()));
      return Found{1 / ((L_g + L_p) * std::cbrt(n)),
                   fmt::format("n^(-1/3) / (L_g + L_p), L_g = {:.3g}, L_p = {:.3g}: about half of the proposals are "
                               "taken",
                               L_g, L_p)};
    });
    need("steps", [&] { return length(); });
  }

  /// Down the levels of the prior's smoothing.
  void along_smoothing() {
    need("sigma_0", [&] { return first_level("sigma_0"); });
    need("sigma_min", [&] { return last_level("sigma_min", resolution_multiple); });
    need("step_size", [&] { return step({read("sigma_min"), 1}); });
    need("steps", [&] { return Found{fewest_steps, "a first choice"}; });
  }

  void unconditional() {
    need("sigma_0", [&] { return first_level("sigma_0"); });
    need("sigma_min", [&] { return last_level("sigma_min", resolution_multiple); });
    need("steps", [&] { return Found{most_steps, "the most that is taken by default"}; });
  }

  void dps() {
    const auto [low, high] = posterior_.prior->sigma_range();
    need("sigma_max", [&] {
      return Found{std::min(high, 40 * pixel_width("sigma_max")), "40 widths of the pixels' range, or the prior's end"};
    });
    need("sigma_min", [&] {
      return Found{std::max(low, 1e-3 * pixel_width("sigma_min")), "a thousandth of that width, or the prior's end"};
    });
    need("steps", [] { return Found{1000, "as the authors of DPS"}; });
  }

  void variational() {
    const double low = posterior_.prior->sigma_range().low;
    need("sigma_max", [&] { return first_level("sigma_max"); });
    need("sigma_min", [&] {
      return Found{std::max(low, variational_smoothing * pixel_width("sigma_min")),
                   "a two-hundredth of the pixels' range, or the smallest noise that the prior knows"};
    });
    need("scale", [&] {
      return Found{variational_start * pixel_width("scale"), "a twentieth of the pixels' range: the flow's first SD"};
    });
    need("steps", [] {
      return Found{variational_steps, "a first choice; the objective's trace tells whether it fell"};
    });
  }

  void deterministic() {
    // RED's residual has a slope of about one: it adds tau to the curvature.
    const double tau = entry_.name == "red" ? residual_weight() : 0;
    need("step_size", [&] {
      const double L = curvature("step_size") + tau;
      if (L == 0) sampler_.fail("step_size", "missing; without data there is no curvature to derive it from");
      if (tau > 0) return Found{1 / L, fmt::format("1 / (L_g + tau), L_g = {:.3g}, tau = {:.3g}", L - tau, tau)};
      return Found{1 / L, fmt::format("1 / L_g, L_g = {:.3g}", L)};
    });
    need("steps", [&] { return Found{entry_.name == "tv" ? 40.0 : 200.0, "enough for most problems"}; });
  }

  struct Found {
    double value;
    std::string why;
  };

  template <typename Formula>
  void need(const std::string& key, Formula formula) {
    if (!given(key)) {
      const Found found = formula();
      // Of xi it is the distance from 1 that counts.
      double value = key == "schedule.xi" ? 1 - rounded(1 - found.value) : rounded(found.value);
      // Rounding must not carry a noise level out of the range that it was taken from.
      const auto [low, high] = posterior_.prior->sigma_range();
      if (key.find("sigma") != key.npos) value = std::clamp(value, low, high);
      sampler_.set_default(key, fmt::format("{:.10g}", value));
      derived_.push_back({key, value, found.why});
    }
    // Asked for here, given or not, so that the resolved configuration has one order.
    read(key);
  }

  bool given(const std::string& key) {
    const auto dot = key.find('.');
    return dot == key.npos ? sampler_.has(key) : sampler_.section(key.substr(0, dot)).has(key.substr(dot + 1));
  }
  /// A number that is there by now; whoever needs it asks again, with its bounds.
  double read(const std::string& key) {
    const auto dot = key.find('.');
    return dot == key.npos ? sampler_.number(key) : sampler_.section(key.substr(0, dot)).number(key.substr(dot + 1));
  }

  double pixel_width(const std::string& needed_by) {
    if (!width_) width_ = posterior_.prior->pixel_width();
    if (!width_)
      sampler_.fail(needed_by,
                    "missing; this prior names no range of its pixels to derive it from (prior.pixel_range); expected "
                    "a number");
    return *width_;
  }

  double curvature(const std::string& needed_by) {
    if (!L_g_) L_g_ = posterior_.likelihood->typical_curvature();
    if (!L_g_)
      sampler_.fail(needed_by,
                    "missing; the curvature of this likelihood is not known, so that it cannot be derived; expected a "
                    "number");
    return *L_g_;
  }

  Found first_level(const std::string& key) {
    const double width = pixel_width(key), high = posterior_.prior->sigma_range().high;
    return {std::min(width, high), "the width of the pixels' range: at this noise an image is forgotten"};
  }

  Found last_level(const std::string& key, double multiple) {
    const double L_g = curvature(key), most = largest_smoothing * pixel_width(key);
    const double resolved = L_g > 0 ? multiple / std::sqrt(L_g) : most;
    const double low = posterior_.prior->sigma_range().low;
    if (low >= std::min(resolved, most)) return {low, "the smallest noise that the prior knows"};
    if (resolved >= most) return {most, "a fiftieth of the pixels' range: the data resolve less"};
    return {resolved, fmt::format("{:g} / sqrt(L_g), L_g = {:.3g}: what the data resolve", multiple, L_g)};
  }

  /// The data's step; pull cuts it where it is too long for the prior, which without data is everywhere.
  Found annealed_step() {
    const double L_g = curvature("step_size"), sigma_0 = read("schedule.sigma_0");
    const double prior = read("pull") * sigma_0 * sigma_0;
    const double L = through_denoiser_ ? curvature_of_images(L_g) : L_g;
    if (L * prior <= 1) return {prior, "pull sigma_0^2: the longest that the prior allows"};
    if (L == L_g) return {1 / L_g, fmt::format("1 / L_g, L_g = {:.3g}: half of what is stable", L_g)};
    return {1 / L, fmt::format("1 / {:.3g}, the curvature that images see, where L_g = {:.3g}", L, L_g)};
  }

  /// Through the denoiser the data pull on images alone, and stability asks for less than L_g: for something between
  /// it and what smooth images see. Where the prior's own Jacobian says more, that counts: at the smallest sigma
  /// that has the whole step, for then pull cuts it.
  double curvature_of_images(double L_g) {
    const double L_s = posterior_.likelihood->smooth_curvature().value_or(L_g);
    double L = std::sqrt(L_g * std::clamp(L_s, L_g / most_stretch / most_stretch, L_g));
    for (int round = 0; round < 3 && L < L_g; ++round) {
      const auto [low, high] = posterior_.prior->sigma_range();
      const double sigma = std::clamp(1 / std::sqrt(read("pull") * L), low, high);
      const auto seen = curvature_through_denoiser(posterior_, sigma, read("schedule.sigma_0"));
      L = std::clamp(seen ? above(*seen) : L_g, L, L_g);
    }
    return L;
  }

  Found share_of_a_step() {
    if (!given("pull")) return {annealed_momentum, "short steps that add up: less error of the step"};
    return {std::clamp(1 - read("pull") / annealed_pull, shares_of_a_step.low, shares_of_a_step.high),
            "1 - pull / 0.2: steps add up to a fifth of the denoiser's correction"};
  }

  /// gamma alpha_k / sigma_k^2 = gamma alpha_0 at sigma_0, and while alpha_k is above 1 where alpha_power is 2.
  Found first_weight(double power) {
    const double sigma_0 = read("schedule.sigma_0"), sigma_min = read("schedule.sigma_min");
    const double most = 1 / PriorWeight{1, power, sigma_0}.unbounded(sigma_min);
    const double gamma = read("step_size");
    const bool weighed = given("prior_weight");
    const double wanted = weighed ? read("prior_weight") / gamma : read("pull") / (1 - momentum_) / gamma;
    if (wanted >= most) return {round_down(most), "so that the weight ends at one at sigma_min"};
    return {std::max(wanted, 1 / (sigma_0 * sigma_0)),
            weighed ? "prior_weight / step_size"
                    : "pull / (1 - momentum) / step_size: the prior has the same weight whatever the momentum"};
  }

  /// Always asked for, so that the resolved configuration has one order.
  double constant_weight(bool has_schedule) {
    if (entry_.name == "pnp-ula") return sampler_.number("alpha", 1, positive);
    return has_schedule ? sampler_.section("schedule").number("alpha", 1, positive) : 1;
  }

  double residual_weight() {
    const double sigma = sampler_.number("sigma", positive);
    return sampler_.number("tau", 1 / (sigma * sigma), positive);
  }

  Found step(const Annealing& stiffest) {
    const double L_g = curvature("step_size"), sigma = stiffest.sigma, a = stiffest.alpha / (sigma * sigma);
    if (sigma == 0) sampler_.fail("step_size", "missing; with sigma 0 it cannot be derived; expected a number");
    theory::BoundInputs inputs;
    inputs.theorem = theory::theorem_of(entry_.discretization, entry_.annealed);
    inputs.L_g = L_g;
    inputs.iterations.push_back({stiffest, 1 / (sigma * sigma), {}});
    return {stability_share * theory::stability_limit(inputs),
            fmt::format("a quarter of the stability limit with L_g = {:.3g} and the prior's {} = {:.3g}", L_g,
                        stiffest.alpha > 1 ? "alpha/sigma^2" : "1/sigma^2", a)};
  }

  /// What the data leave open mixes as slowly as the prior: in 1 / (gamma curvature) steps, curvature 1/SD^2.
  Found length() {
    const double sd = pixel_width("steps") / 4;
    const double mixing = sd * sd / read("step_size");
    const double wanted = 100 * std::ceil(mixing_times * mixing / 100);
    const double steps = std::clamp(wanted, double{fewest_steps}, double{most_steps});
    return {steps, fmt::format("4 mixing times of the prior, {:.3g} steps each, within {} to {}", mixing, fewest_steps,
                               most_steps)};
  }

  Found decay() {
    const double sigma_0 = read("schedule.sigma_0"), sigma_min = read("schedule.sigma_min");
    if (!(sigma_min > 0 && sigma_min < sigma_0)) return {0.99, "the paper's"};
    const double xi = std::pow(sigma_min / sigma_0, 1 / (annealing_share * read("steps")));
    return {xi, annealing_in_words(annealing_share)};
  }
  Found whole_steps(double share) {
    return {std::max(1.0, std::floor(share * read("steps"))), annealing_in_words(share)};
  }
  static std::string annealing_in_words(double share) {
    return fmt::format("the annealing takes {:g} % of the steps", 100 * share);
  }

  Settings& sampler_;
  const SamplerEntry& entry_;
  const Posterior& posterior_;
  std::optional<double> width_, L_g_;
  bool through_denoiser_ = false;
  double momentum_ = 0;
  std::vector<Derived> derived_;
};

}  // namespace

std::vector<Derived> derive_defaults(Settings& sampler, const SamplerEntry& entry, const Posterior& posterior) {
  return Deriver(sampler, entry, posterior).derive();
}

nlohmann::json describe_derived(const std::vector<Derived>& derived) {
  auto list = nlohmann::json::array();
  for (const auto& [key, value, why] : derived)
    list.push_back({{"key", "sampler." + key}, {"value", value}, {"why", why}});
  return list;
}

}  // namespace penumbra::app
