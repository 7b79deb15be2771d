#include "app/experiments/interferometry/analytic.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "app/experiments/interferometry/minimise.h"
#include "core/blur.h"
#include "samplers/pmc.h"

namespace penumbra::app::interferometry {
namespace {

constexpr double prior_blur = 20;                  // microarcseconds, FWHM
constexpr double fwhm_of_sd = 2.3548200450309493;  // of a Gaussian

double chi2_of(const std::vector<Misfit>& misfits, const std::string& term) {
  for (const auto& misfit : misfits)
    if (misfit.term == term) return misfit.chi2.item<double>();
  return std::nan("");
}

AnalyticProblem problem_of(const SkySetup& setup, int64_t side, uint64_t seed) {
  AnalyticProblem problem{.setup = setup, .sky = {}, .prior = {}};
  const double pixel = problem.setup.fov / static_cast<double>(side);
  const auto target = crescent_in_halo(side), m = gaussian_blur(target, prior_blur / fwhm_of_sd / pixel);
  problem.prior = two_mode_prior(m / m.max(), pixel);
  problem.sky = observe_sky((target / m.max()).unsqueeze(0), problem.setup, seed, {at::kDouble, at::kCPU});
  return problem;
}

Posterior amplitude_posterior(const AnalyticProblem& problem, const Placement& placement) {
  constexpr double floor = 1e-6;
  const auto shape = problem.sky.likelihood->image_shape();
  return {closure_likelihood(problem.sky, problem.setup, {.closure_phase = 0, .log_closure_amplitude = 1}, placement),
          problem.prior.mixture(shape, floor, placement)};
}

}  // namespace

AnalyticProblem analytic_problem(int64_t side, uint64_t seed) { return problem_of(sgra_setup(), side, seed); }

AnalyticProblem five_station_problem(int64_t side, uint64_t seed) {
  auto setup = sgra_setup();
  std::erase_if(setup.plan.stations, [](const auto& station) {
    const auto& name = station.name;
    return name != "ALMA" && name != "SMT" && name != "LMT" && name != "SMA" && name != "PV";
  });
  return problem_of(setup, side, seed);
}

/// From noise far wider than |m - R m| down to sigma_min, where alpha is 1. The noise's law is even under the turn.
Annealed anneal_amplitudes(const AnalyticProblem& problem, const AnnealingOptions& options) {
  c10::NoGradGuard no_gradients;
  constexpr double sigma_0 = 10, pull = 0.3;
  const auto shape = problem.sky.likelihood->image_shape();
  const auto posterior = amplitude_posterior(problem, options.placement);
  // Half of what is stable where the image explains the data.
  const double gamma = 1 / posterior.likelihood->typical_curvature().value(), sigma_min = std::sqrt(gamma / pull);
  const auto schedule = std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = sigma_0,
                                 .sigma_min = sigma_min,
                                 .xi = std::pow(sigma_min / sigma_0, 1 / (0.8 * static_cast<double>(options.steps))),
                                 .alpha_0 = pull / gamma});
  const AnnealedPmc sampler(posterior, options.seed,
                            {.discretization = Discretization::red,
                             .gamma = gamma,
                             .schedule = schedule,
                             .warm = true,
                             .denoised = true,
                             .steps = options.steps});
  const auto like = at::empty({options.chains, 1, shape[1], shape[2]},
                              at::TensorOptions().dtype(options.placement.precision).device(options.placement.device));
  ChainState state{sigma_0 * normal({options.seed, 0, 0}, Stream::start, like)};
  while (state.k < options.steps) sampler.step(state);
  const auto x = posterior.prior->denoise(state.x, sigma_min);
  const auto chi2 = posterior.likelihood->misfit(x).at(0).chi2;
  return {problem.prior.projection(x.to(at::kCPU)), chi2.to(at::kCPU, at::kDouble), state.x.to(at::kCPU, at::kDouble),
          sigma_min};
}

theory::ModeOdds amplitude_odds(const AnalyticProblem& problem, const Annealed& annealed, int64_t samples) {
  c10::NoGradGuard no_gradients;
  const auto posterior = amplitude_posterior(problem, {at::kDouble, at::kCPU});
  const auto turned = annealed.p.lt(0).to(at::kLong).contiguous();
  const std::vector<int64_t> label(turned.data_ptr<int64_t>(), turned.data_ptr<int64_t>() + turned.numel());
  theory::OddsOptions options{.samples = samples, .turn = [](const Tensor& x) { return x.flip({-2, -1}); }};
  options.split = {[&](const Tensor& x) { return posterior.prior->score(x, annealed.sigma); },
                   [&](const Tensor& x) { return posterior.likelihood->value(x); }};
  return theory::mode_odds([&](const Tensor& x) { return posterior.score(x, annealed.sigma); }, annealed.x, label,
                           options);
}

TwoModeCoordinates widened_coordinates(const AnalyticProblem& problem) {
  constexpr double wider = 30;
  const auto& sky = problem.sky;
  SkyData data{sky.observed, vlbi::form_closures(sky.observed, problem.setup.closures), {}};
  for (auto& phase : data.closures.phases) phase.sd *= wider;
  data.options.grid = sky.grid;
  data.options.jy_per_unit = problem.setup.flux / sky.truth.sum().item<double>();
  data.options.closure_phase = data.options.log_closure_amplitude = 1;
  data.options.flux = {1, problem.setup.flux, problem.setup.flux_sd};
  return two_mode_coordinates(problem.prior, data, sky.grid.height);
}

theory::ModeOdds turned_odds(const TwoModeCoordinates& coordinates, const LadderOdds& ladder, int64_t samples) {
  c10::NoGradGuard no_gradients;
  const auto& [first, second] = ladder.last;
  std::vector<int64_t> label(static_cast<size_t>(first.u.size(0)), 0);
  label.resize(label.size() + static_cast<size_t>(second.u.size(0)), 1);
  return theory::mode_odds([&](const Tensor& u) { return coordinates.posterior.score(u, 0); },
                           at::cat({first.u, second.u}), label,
                           {.samples = samples, .turn = [&](const Tensor& u) { return u * coordinates.signs; }});
}

Optimum optimum(const AnalyticProblem& problem, From from, int iterations) {
  c10::NoGradGuard no_gradients;
  const auto& prior = problem.prior;
  const auto& g = *problem.sky.likelihood;
  const auto& mean = from == From::mean ? prior.mean : prior.turned;
  const auto shape = problem.sky.truth.unsqueeze(0).sizes().vec();
  const auto image = [&](const Tensor& xi) { return (mean + prior.factor.mv(xi)).view(shape); };
  const Objective energy = [&](const Tensor& xi) {
    const auto [value, grad] = g.value_and_grad(image(xi));
    return std::pair(0.5 * xi.dot(xi).item<double>() + value.item<double>(), xi + prior.factor.t().mv(grad.flatten()));
  };
  const auto xi = minimise(energy, at::zeros({prior.factor.size(1)}, at::kDouble), iterations, 0.05);
  const auto [value, slope] = energy(xi);
  const auto misfits = g.misfit(image(xi));
  return {.energy = value,
          .above = 0.5 * slope.square().sum().item<double>(),
          .chi2_phase = chi2_of(misfits, "closure_phase"),
          .chi2_amplitude = chi2_of(misfits, "log_closure_amplitude"),
          .p = prior.projection(image(xi)).item<double>()};
}

}  // namespace penumbra::app::interferometry
