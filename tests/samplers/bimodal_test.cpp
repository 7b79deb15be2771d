/// Annealing must split between modes that no chain can cross: closure amplitudes do not change when the source is
/// turned by 180 degrees, and neither does the prior, so that both orientations have weight 1/2 exactly.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "app/experiments/interferometry/two_modes.h"
#include "likelihoods/interferometry.h"
#include "samplers/pmc.h"
#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/golden.h"

namespace penumbra {
namespace {

const Placement placement{at::kFloat, at::kCPU};

struct Problem {
  int64_t side = 0;
  vlbi::Observation observation;
  vlbi::Closures closures;
  app::interferometry::TwoModePrior prior;  ///< of x, which is 1 where the prior's mean is brightest
  InterferometryOptions options = {};
};

struct Annealed {
  Tensor p, chi2;  ///< of the denoised last iterates, [chains]
};

/// From noise far wider than |m - R m| down to sigma_min, where alpha is 1. The noise's law is even under the turn.
Annealed anneal(const Problem& problem, int64_t chains, int64_t steps, double gamma) {
  c10::NoGradGuard no_gradients;
  constexpr double sigma_0 = 10, pull = 0.3;
  const double sigma_min = std::sqrt(gamma / pull);
  const Shape shape{1, problem.side, problem.side};
  const Posterior posterior{std::make_shared<InterferometryLikelihood>(shape, problem.observation, problem.closures,
                                                                       problem.options, placement),
                            problem.prior.mixture(shape, 1e-6, placement)};
  const auto schedule = std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = sigma_0,
                                 .sigma_min = sigma_min,
                                 .xi = std::pow(sigma_min / sigma_0, 1 / (0.8 * static_cast<double>(steps))),
                                 .alpha_0 = pull / gamma});
  const AnnealedPmc sampler(posterior, 1,
                            {.discretization = Discretization::red,
                             .gamma = gamma,
                             .schedule = schedule,
                             .warm = true,
                             .denoised = true,
                             .steps = steps});
  const auto noise = normal({1, 0, 0}, Stream::start, at::empty({chains, 1, problem.side, problem.side}, at::kFloat));
  ChainState state{sigma_0 * noise};
  while (state.k < steps) sampler.step(state);
  const auto x = posterior.prior->denoise(state.x, sigma_min);
  return {problem.prior.projection(x), posterior.likelihood->misfit(x).at(0).chi2};
}

void expect_two_equal_modes(const Annealed& annealed) {
  const auto& p = annealed.p;
  EXPECT_GT(p.abs().min().item<double>(), 0.4) << "a chain between the modes";
  EXPECT_NEAR(p.abs().median().item<double>(), 1, 0.2);
  const double three_errors = 3 * 0.5 / std::sqrt(static_cast<double>(p.size(0)));
  EXPECT_NEAR(p.gt(0).to(at::kDouble).mean().item<double>(), 0.5, three_errors);
  EXPECT_NEAR(annealed.chi2.median().item<double>(), 1, 0.35) << "what was found must also fit";
}

/// Stations, visibilities and prior made here.
Problem synthetic_problem(int64_t side) {
  auto truth = app::interferometry::crescent(side, 1);  // Jy
  const double peak = truth.max().item<double>(), pixel = 160 / static_cast<double>(side);
  Problem problem{
      side, test::synthetic_observation(6, 8), {}, app::interferometry::two_mode_prior(truth / peak, pixel)};
  problem.options.grid = {side, side, pixel * vlbi::microarcsecond, vlbi::Pulse::triangle};
  problem.options.jy_per_unit = peak;
  problem.options.log_closure_amplitude = 1;
  problem.options.flux = {1, 1, 0.05};
  auto& rows = problem.observation.visibilities;
  for (auto& row : rows) row.sd = 0.02;
  const InterferometryLikelihood instrument({1, side, side}, problem.observation,
                                            vlbi::form_closures(problem.observation), problem.options, {});
  const auto V = instrument.simulate(truth.view({1, 1, side, side}) / peak, {5, 0, 0});
  for (size_t k = 0; k < rows.size(); ++k) {
    const auto z = V[0][static_cast<int64_t>(k)].item<c10::complex<double>>();
    rows[k].value = {z.real(), z.imag()};
  }
  std::erase_if(rows, [=](const auto& row) { return std::abs(row.value) < 3 * row.sd; });
  problem.closures = vlbi::form_closures(problem.observation);
  return problem;
}

TEST(BimodalAnnealing, BothOrientationsHaveHalfTheWeight) {
  expect_two_equal_modes(anneal(synthetic_problem(24), 200, 600, 3e-4));
}

/// T1 of the specification: nine stations, 485 closure amplitudes, 64x64.
TEST(BimodalAnnealing, BothOrientationsOfTheGoldenProblem) {
  const auto path = test::shared("interferometry/golden/bimodal_open.npz");
  if (!path) GTEST_SKIP() << "no ../shared/interferometry";
  const auto arrays = test::read_npz(*path);
  const double peak = arrays.at("prior_mean").max().item<double>(), pixel = 160.0 / 64;
  Problem problem{64, test::observation_in(arrays, ""), test::closures_in(arrays),
                  app::interferometry::two_mode_prior(arrays.at("prior_mean") / peak, pixel)};
  problem.options.grid = {64, 64, pixel * vlbi::microarcsecond, vlbi::Pulse::triangle};
  problem.options.jy_per_unit = peak;
  problem.options.log_closure_amplitude = 1;
  problem.options.flux = {1, 2, 0.05};
  expect_two_equal_modes(anneal(problem, 64, 300, 3e-5));
}

}  // namespace
}  // namespace penumbra
