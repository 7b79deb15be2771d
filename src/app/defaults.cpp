#include "app/defaults.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "theory/bounds.h"

namespace penumbra::app {
namespace {

// The constants of docs/samplers.md: first choices.
constexpr double resolution_multiple = 2;   // sigma_min over the SD of what the data determine best
constexpr double largest_smoothing = 0.02;  // sigma_min over the width of the pixels' range
constexpr double stability_share = 0.25;    // gamma over the stability limit
constexpr double annealing_share = 0.4;     // of the steps; the others are taken at alpha = 1
constexpr double mixing_times = 4;          // at alpha = 1
constexpr int64_t fewest_steps = 1000, most_steps = 4000;

/// Three digits: a rerun on another machine derives the same number, and a reader can say it.
double rounded(double value) { return std::stod(fmt::format("{:.3g}", value)); }

class Deriver {
 public:
  Deriver(Settings& sampler, const SamplerEntry& entry, const Posterior& posterior)
      : sampler_(sampler), entry_(entry), posterior_(posterior) {}

  std::vector<Derived> derive() {
    if (entry_.name == "dps")
      dps();
    else if (entry_.name == "annealed-langevin")
      unconditional();
    else if (entry_.name == "varnet")
      need("steps", [] { return Found{1, "one pass of the network is its answer"}; });
    else if (entry_.langevin)
      langevin();
    else
      deterministic();
    return std::move(derived_);
  }

 private:
  void langevin() {
    const bool has_schedule = entry_.name == "apmc-pnp" || entry_.name == "apmc-red";
    const auto kind = has_schedule ? sampler_.section("schedule").text("kind", "geometric") : std::string();
    const auto smallest = has_schedule && kind != "constant" ? "schedule.sigma_min"
                          : has_schedule                     ? "schedule.sigma"
                                                             : "sigma";
    const bool annealed = has_schedule && kind != "constant";
    if (annealed) need("schedule.sigma_0", [&] { return first_level("schedule.sigma_0"); });
    if (!(entry_.name == "pnp-ula" && sampler_.text("variant", "cus") == "ori"))
      need(smallest, [&] { return last_level(smallest); });
    const double sigma = given(smallest) ? read(smallest) : 5.0 / 255;
    const double alpha = largest_weight(annealed, has_schedule, sigma);
    need("step_size", [&] { return step({sigma, alpha}); });
    need("steps", [&] { return length(annealed); });
    if (annealed && kind == "geometric") need("schedule.xi", [&] { return decay(); });
  }

  void unconditional() {
    need("sigma_0", [&] { return first_level("sigma_0"); });
    need("sigma_min", [&] { return last_level("sigma_min"); });
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
    if (!L_g_) L_g_ = posterior_.likelihood->lipschitz();
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

  Found last_level(const std::string& key) {
    const double L_g = curvature(key), most = largest_smoothing * pixel_width(key);
    const double resolved = L_g > 0 ? resolution_multiple / std::sqrt(L_g) : most;
    const double low = posterior_.prior->sigma_range().low;
    if (low >= std::min(resolved, most)) return {low, "the smallest noise that the prior knows"};
    if (resolved >= most) return {most, "a fiftieth of the pixels' range: the data resolve less"};
    return {resolved, fmt::format("2 / sqrt(L_g), L_g = {:.3g}: what the data resolve", L_g)};
  }

  /// The alpha for which alpha / sigma^2 is the largest weight times curvature of the prior. With alpha_k =
  /// max(alpha_0 sigma_k^2, 1) and sigma_k >= sigma = sigma_min, alpha_k / sigma_k^2 <= max(alpha_0, 1 / sigma_min^2)
  /// all along the schedule. Always asked for, so that the resolved configuration has one order.
  double largest_weight(bool annealed, bool has_schedule, double sigma) {
    if (entry_.name == "pnp-ula") return sampler_.number("alpha", 1, positive);
    if (!has_schedule) return 1;
    auto schedule = sampler_.section("schedule");
    if (!annealed) return schedule.number("alpha", 1, positive);
    const double alpha_0 = schedule.number("alpha_0", sigma > 0 ? 1 / (sigma * sigma) : 1.0, positive);
    return std::max(alpha_0 * sigma * sigma, 1.0);
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
  Found length(bool annealed) {
    const double sd = pixel_width("steps") / 4, share = annealed ? 1 - annealing_share : 1;
    const double mixing = sd * sd / read("step_size");
    const double wanted = 100 * std::ceil(mixing_times * mixing / share / 100);
    const double steps = std::clamp(wanted, double{fewest_steps}, double{most_steps});
    return {steps, fmt::format("4 mixing times of the prior, {:.3g} steps each, within {} to {}", mixing, fewest_steps,
                               most_steps)};
  }

  Found decay() {
    const double sigma_0 = read("schedule.sigma_0"), sigma_min = read("schedule.sigma_min");
    if (!(sigma_min > 0 && sigma_min < sigma_0)) return {0.99, "the paper's"};
    const double xi = std::pow(sigma_min / sigma_0, 1 / (annealing_share * read("steps")));
    return {xi, "the annealing takes 40 % of the steps"};
  }

  Settings& sampler_;
  const SamplerEntry& entry_;
  const Posterior& posterior_;
  std::optional<double> width_, L_g_;
  std::vector<Derived> derived_;
};

}  // namespace

std::vector<Derived> derive_defaults(Settings& sampler, const SamplerEntry& entry, const Posterior& posterior) {
  return Deriver(sampler, entry, posterior).derive();
}

}  // namespace penumbra::app
