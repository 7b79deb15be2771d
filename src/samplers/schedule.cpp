#include "samplers/schedule.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/named.h"

namespace penumbra {

double PriorWeight::unbounded(double sigma) const {
  const double papers = alpha_0 * sigma * sigma;
  return power == papers_alpha_power ? papers : papers * std::pow(sigma / sigma_0, power - 2);
}

double PriorWeight::at(double sigma) const { return std::max(unbounded(sigma), 1.0); }

Annealing GeometricSchedule::at(int64_t k) const {
  const auto [sigma_0, sigma_min, xi, alpha_0, alpha_power] = options_;
  const double sigma = std::max(sigma_0 * std::pow(xi, static_cast<double>(k)), sigma_min);
  return {sigma, PriorWeight{alpha_0, alpha_power, sigma_0}.at(sigma)};
}

namespace {

/// sigma falls from sigma_0 to sigma_min in `anneal_steps`, evenly in sigma^(1/rho): large rho lingers at small sigma.
class PowerSchedule final : public Schedule {
 public:
  struct Options {
    double sigma_0, sigma_min, rho;
    PriorWeight weight;
    int64_t anneal_steps;
  };
  explicit PowerSchedule(Options options) : options_(options) {}
  Annealing at(int64_t k) const override {
    const auto& [sigma_0, sigma_min, rho, weight, anneal_steps] = options_;
    const double t = std::min(1.0, static_cast<double>(k) / static_cast<double>(anneal_steps));
    const double high = std::pow(sigma_0, 1 / rho), low = std::pow(sigma_min, 1 / rho);
    const double sigma = t == 1 ? sigma_min : std::pow(high + t * (low - high), rho);
    return {sigma, weight.at(sigma)};
  }

 private:
  Options options_;
};

/// "always alpha_0 <= 1/sigma_min^2", so that the weight ends at one (erratum E3); the paper's own 2-D test breaks it.
PriorWeight weight_setting(Settings& settings, double sigma_0, double sigma_min) {
  PriorWeight weight{.sigma_0 = sigma_0};
  weight.power = settings.number("alpha_power", papers_alpha_power, alpha_powers);
  const double most = sigma_min > 0 ? 1 / PriorWeight{1, weight.power, sigma_0}.unbounded(sigma_min) : 1.0;
  weight.alpha_0 = settings.number("alpha_0", most, positive);
  const double last = weight.unbounded(sigma_min);
  const bool allowed = settings.flag("allow_final_weight", false);
  if (!(last <= 1 + 1e-9) && !allowed)
    settings.fail("alpha_0",
                  fmt::format("the prior's weight would stay at {:g} for ever, above 1; expected alpha_0 <= {:g} (or "
                              "allow_final_weight: true)",
                              last, most));
  return weight;
}

std::unique_ptr<Schedule> make_geometric(Settings& settings, int64_t) {
  GeometricSchedule::Options options;
  options.sigma_0 = settings.number("sigma_0", positive);
  options.sigma_min = settings.number("sigma_min", not_negative);
  options.xi = settings.number("xi", {0, 1, true});
  if (options.sigma_min > options.sigma_0)
    settings.fail("sigma_min",
                  fmt::format("expected at most sigma_0 = {:g}, found {:g}", options.sigma_0, options.sigma_min));
  const auto weight = weight_setting(settings, options.sigma_0, options.sigma_min);
  options.alpha_0 = weight.alpha_0;
  options.alpha_power = weight.power;
  return std::make_unique<GeometricSchedule>(options);
}

std::unique_ptr<Schedule> make_power(Settings& settings, int64_t steps) {
  PowerSchedule::Options options{};
  options.sigma_0 = settings.number("sigma_0", positive);
  options.sigma_min = settings.number("sigma_min", {0, options.sigma_0, true});
  options.rho = settings.number("rho", usual_rho, positive);
  options.anneal_steps = settings.integer("anneal_steps", std::max<int64_t>(1, steps / 2), {1, 1e12});
  options.weight = weight_setting(settings, options.sigma_0, options.sigma_min);
  return std::make_unique<PowerSchedule>(options);
}

std::unique_ptr<Schedule> make_constant(Settings& settings, int64_t) {
  return std::make_unique<ConstantSchedule>(
      Annealing{settings.number("sigma", not_negative), settings.number("alpha", 1, positive)});
}

}  // namespace

extern const ScheduleEntry geometric{"geometric", "the paper's: sigma_k = max(sigma_0 xi^k, sigma_min)",
                                     make_geometric};
extern const ScheduleEntry power{"power", "evenly in sigma^(1/rho) over anneal_steps", make_power};
extern const ScheduleEntry constant{"constant", "one sigma and one alpha throughout", make_constant};

std::shared_ptr<const Schedule> make_schedule(Settings settings, int64_t steps) {
  const auto kind = settings.choice("kind", names_of(schedule_entries()), "geometric");
  return find_named(schedule_entries(), kind)->make(settings, steps);
}

}  // namespace penumbra
