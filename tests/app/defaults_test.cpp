/// Defaults by themselves: prior and likelihood are a sufficient configuration, presets are the paper's values.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "app/exact_problem.h"
#include "app/wiring.h"
#include "io/npy.h"
#include "run/chain_run.h"
#include "support/message.h"
#include "support/observation_archive.h"
#include "support/paths.h"
#include "support/program.h"
#include "vlbi/golden.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;
using test::write_text;

constexpr auto gaussian_prior = "prior: {kind: gaussian, image_shape: [1, 3, 4], mean: 0.5, variance: 0.3}\n";

/// 12 pixels, 6 random measurements of one draw of the prior.
std::string likelihood(double noise_sd) {
  return fmt::format("likelihood: {{kind: gaussian, rows: 6, matrix_seed: 2, noise_sd: {}, data: y.npy}}\n", noise_sd);
}

Problem load(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const auto folder = test::scratch();
  write_text(folder / "config.yaml", text);
  io::write_npy(folder / "y.npy", normal({3, 0, 0}, Stream::probe, at::empty({6}, at::kDouble)));
  ConfigOptions options;
  options.path = folder / "config.yaml";
  options.assignments = assignments;
  options.machine.device = "cpu";
  return load_problem(options);
}

double derived(const Problem& problem, const std::string& key) {
  for (const auto& one : problem.derived)
    if (one.key == key) return one.value;
  return std::numeric_limits<double>::quiet_NaN();
}

TEST(Defaults, AreTheFormulasOfTheDocumentation) {
  const auto problem = load(gaussian_prior + likelihood(0.01));
  EXPECT_EQ(problem.sampler_kind, "apmc-pnp");
  EXPECT_EQ(problem.plan.chains, 16);
  const double L_g = *problem.posterior.likelihood->lipschitz();
  const double sigma_min = derived(problem, "schedule.sigma_min"), sigma_0 = derived(problem, "schedule.sigma_0");
  // Derived numbers have three digits: half a percent.
  EXPECT_NEAR(sigma_min, 0.6 / std::sqrt(L_g), 0.005 * sigma_min);
  // Four SDs from 64 draws of 12 pixels: the SD is known to 1/sqrt(2 * 768).
  EXPECT_NEAR(sigma_0, 4 * std::sqrt(0.3), 0.1 * sigma_0);
  // A random matrix magnifies smooth images less than others; but pixels that are independent are not smooth, and the
  // denoiser lets all directions pass: (1 + sigma^2/0.3)^-2 of L_g, at the smallest sigma with the whole step.
  ASSERT_LT(*problem.posterior.likelihood->smooth_curvature(), 0.9 * L_g);
  const double L = 1 / derived(problem, "step_size");
  EXPECT_LT(L, 1.01 * L_g);
  EXPECT_GT(L, 0.9 * L_g);
  EXPECT_NEAR(derived(problem, "schedule.alpha_0"), 0.2 * L, 0.01 * L);
  EXPECT_EQ(derived(problem, "pull"), 0.2);
  EXPECT_NEAR(problem.sampler->step_size(), 0.2 * sigma_min * sigma_min, 1e-15);
  EXPECT_TRUE(contains(problem.resolved, "noise: warm"));
  EXPECT_TRUE(contains(problem.resolved, "likelihood_at: denoised"));
  EXPECT_TRUE(contains(problem.resolved, "chain_rule: true"));
  EXPECT_TRUE(contains(problem.resolved, "records: denoised"));
  EXPECT_TRUE(contains(problem.resolved, "tempering: scaled")) << "all data have the same noise";
  const auto steps = problem.plan.steps;
  EXPECT_EQ(static_cast<double>(steps), derived(problem, "steps"));
  EXPECT_NEAR(static_cast<double>(settled_at(*problem.sampler, steps)), 0.9 * static_cast<double>(steps),
              0.02 * static_cast<double>(steps));
  EXPECT_NEAR(problem.sampler->annealing(steps - 1).alpha, 1, 1e-9);
  EXPECT_EQ(problem.sampler->annealing(steps - 1).sigma, sigma_min);
}

TEST(Defaults, WithoutTheChainRuleTheStepIsThatOfAllImages) {
  for (const auto* option : {"chain_rule: false", "likelihood_at: iterate"}) {
    const auto problem = load(gaussian_prior + likelihood(0.01) + fmt::format("sampler: {{{}}}\n", option));
    const double L_g = *problem.posterior.likelihood->lipschitz();
    EXPECT_NEAR(derived(problem, "step_size"), 1 / L_g, 0.005 / L_g) << option;
  }
}

TEST(Defaults, GivenKeysAreKept) {
  const auto problem = load(gaussian_prior + likelihood(0.01) +
                            "sampler: {step_size: 1e-6, steps: 70, schedule: {sigma_min: 0.1, xi: 0.9}}\nchains: 3\n");
  EXPECT_EQ(problem.sampler->step_size(), 1e-6);
  EXPECT_EQ(problem.plan.steps, 70);
  EXPECT_EQ(problem.plan.chains, 3);
  ASSERT_EQ(problem.derived.size(), 3U);
  EXPECT_EQ(problem.derived[0].key, "schedule.sigma_0");
}

TEST(Defaults, WhoWritesOutStepAndScheduleHasThePapersAlgorithm) {
  const auto problem = load(gaussian_prior + likelihood(0.01) +
                            "sampler: {step_size: 1e-6, steps: 70, schedule: {sigma_0: 2, sigma_min: 0.1, xi: 0.9}}\n");
  EXPECT_TRUE(problem.derived.empty());
  EXPECT_TRUE(problem.sampler->is_the_papers());
  EXPECT_NEAR(problem.sampler->annealing(0).alpha, 4 * 100, 1e-9);
}

TEST(Defaults, TheResolvedConfigurationIsComplete) {
  const auto problem = load(gaussian_prior + likelihood(0.1));
  const auto again = load(problem.resolved);
  EXPECT_EQ(again.resolved, problem.resolved);
  EXPECT_TRUE(again.derived.empty());
}

/// Data whose noise differs: short steps that add up.
TEST(Defaults, AnInterferometersStepsHaveMomentum) {
  const auto folder = test::scratch();
  auto observation = test::synthetic_observation(5, 3);
  observation.visibilities.front().sd *= 0.5;
  test::write_npz(folder / "o.npz", test::columns_of(observation));
  const auto config =
      fmt::format("prior: {{kind: random_field, side: 16}}\nlikelihood: {{kind: interferometry, data: {}, fov: 60}}\n",
                  (folder / "o.npz").string());
  const auto problem = load(config);
  EXPECT_TRUE(contains(problem.resolved, "tempering: added"));
  EXPECT_EQ(derived(problem, "momentum"), 0.9);
  EXPECT_EQ(problem.sampler->momentum(), 0.9);
  EXPECT_NEAR(derived(problem, "pull"), 0.02, 1e-12);
  EXPECT_EQ(load(problem.resolved).resolved, problem.resolved);
  // A step and what momentum makes of it go as far, whichever is given.
  EXPECT_NEAR(derived(load(config, {"sampler.momentum=0.5"}), "pull"), 0.1, 1e-12);
  EXPECT_NEAR(derived(load(config, {"sampler.pull=0.05"}), "momentum"), 0.75, 1e-12);
  EXPECT_EQ(derived(load(config, {"sampler.pull=0.3"}), "momentum"), 0);
  // The prior's weight is that of the way they go together.
  const auto weight = [&](const std::string& option) {
    const auto problem = load(config, {option, "sampler.step_size=1e-4"});
    return derived(problem, "schedule.alpha_0");
  };
  for (const auto* option : {"sampler.momentum=0.9", "sampler.momentum=0", "sampler.pull=0.05"})
    EXPECT_NEAR(weight(option), 0.2 / 1e-4, 1) << option;
  EXPECT_EQ(load(config, {"sampler.tempering=scaled"}).sampler->momentum(), 0);
  EXPECT_NEAR(weight("sampler.prior_weight=0.05"), 0.05 / 1e-4, 1);
  // Data come in faster than the prior sharpens.
  EXPECT_EQ(derived(problem, "schedule.alpha_power"), 3);
  const auto given = load(config, {"sampler.prior_weight=0.05"}).resolved;
  EXPECT_EQ(load(given).resolved, given);
}

/// Mean and SD of the chains' records against the exact posterior.
void expect_posterior(double noise_sd) {
  auto problem = load(gaussian_prior + likelihood(noise_sd), {"sampler.precision=float64", "chains=400", "seed=5"});
  ChainRun run(problem.plan, problem.posterior, *problem.sampler, problem.initial_state(problem.plan));
  ASSERT_EQ(run.run(), Outcome::finished);
  const auto data = *dense_data(problem);
  const auto exact = condition(*analytic_prior(problem), data.A, data.y, data.beta).posterior;
  const auto sd = exact->dense_covariance().diagonal().sqrt();
  const auto mean_error = (run.statistics().moments().mean().flatten() - exact->mean()) / sd;
  const auto sd_ratio = run.statistics().moments().sd().flatten() / sd;
  // 400 chains: 4 standard errors are 0.2 of an SD, and 0.14 of the SD itself; smoothing and step add some percent.
  EXPECT_LT(mean_error.abs().max().item<double>(), 0.25) << noise_sd;
  EXPECT_LT((sd_ratio - 1).abs().max().item<double>(), 0.2) << noise_sd << sd_ratio;
}

TEST(Defaults, SampleTheExactPosteriorOfAGaussianProblem) { expect_posterior(0.3); }

TEST(Defaults, HugeNoiseGivesThePrior) { expect_posterior(1e4); }

TEST(Defaults, TinyNoiseIsStable) {
  // Five decades of sigma take more than the default's steps.
  auto problem =
      load(gaussian_prior + likelihood(1e-5), {"sampler.precision=float64", "chains=8", "sampler.steps=1200"});
  ChainRun run(problem.plan, problem.posterior, *problem.sampler, problem.initial_state(problem.plan));
  ASSERT_EQ(run.run(), Outcome::finished);
  EXPECT_LT(run.state().x.abs().max().item<double>(), 10);
  // The data are met: chi^2 = 1 and the step's own share, at most 1 / (1 - 1/4) at the limit's quarter.
  const auto chi2 = problem.posterior.likelihood->misfit(run.state().x)[0].chi2.mean().item<double>();
  EXPECT_LT(chi2, 2);
}

TEST(Defaults, WithoutDataThePriorIsSampled) {
  const auto problem = load(std::string(gaussian_prior) + "likelihood: {kind: none}\n");
  EXPECT_NEAR(derived(problem, "schedule.sigma_min"), 0.02 * derived(problem, "schedule.sigma_0"), 2e-4);
}

TEST(Defaults, EveryKindHasThem) {
  for (const auto* kind : {"pmc-red", "pmc-pnp", "apmc-red", "apmc-pnp", "dps", "pnp-ula", "score-dpi"})
    EXPECT_NO_THROW(load(gaussian_prior + likelihood(0.1), {fmt::format("sampler.kind={}", kind)})) << kind;
  EXPECT_NO_THROW(load(gaussian_prior + likelihood(0.1), {"sampler.kind=tv", "sampler.lambda=3"}));
  EXPECT_NO_THROW(load(gaussian_prior + likelihood(0.1), {"sampler.kind=pnp-ula", "sampler.variant=ori"}));
  EXPECT_NO_THROW(load(std::string(gaussian_prior) + "likelihood: {kind: none}\n", {"sampler.kind=annealed-langevin"}));
}

/// A learned prior's ranges: sigmas with more digits than a derived one has.
class Ranged final : public Score {
 public:
  Ranged() : Score({1, 3, 4}) {}
  SigmaRange sigma_range() const override { return {20.5301, 8186.34}; }
  std::optional<std::pair<double, double>> pixel_range() const override { return std::pair{0.0, 409500.0}; }

 private:
  Tensor do_score(const Tensor& x, double, const Cursor&) const override { return at::zeros_like(x); }
};

TEST(Defaults, LevelsStayWithinThePriorsRange) {
  const auto problem = load(gaussian_prior + likelihood(0.1));
  const Posterior posterior{problem.posterior.likelihood, std::make_shared<Ranged>()};
  for (const auto* kind : {"pmc-pnp", "apmc-red", "dps", "score-dpi"}) {
    auto settings = Settings::from_text(fmt::format("{{kind: {}}}", kind), "config.yaml");
    int levels = 0;
    for (const auto& one : derive_defaults(settings, sampler_entry(settings), posterior)) {
      if (one.key.find("sigma") == one.key.npos) continue;
      EXPECT_TRUE(posterior.prior->accepts(one.value)) << kind << " " << one.key << " " << one.value;
      ++levels;
    }
    EXPECT_GT(levels, 0) << kind;
  }
}

/// A quarter of the stability limit, with the prior's largest weight times curvature a.
TEST(Defaults, TheStepMindsTheWeightOfThePrior) {
  const auto step = [](const std::vector<std::string>& assignments) {
    const auto problem = load(gaussian_prior + likelihood(0.1), assignments);
    return std::pair(derived(problem, "step_size"), *problem.posterior.likelihood->lipschitz());
  };
  const double a = 50 / 0.04;
  const auto expect = [&](double found, double expected) { EXPECT_NEAR(found, expected, 0.005 * expected); };
  const auto [ula, L_g] = step({"sampler.kind=pnp-ula", "sampler.sigma=0.2", "sampler.alpha=50"});
  expect(ula, 0.25 * 2 / (L_g + a));
  ASSERT_GT(a, L_g);
  expect(step({"sampler.schedule.kind=constant", "sampler.schedule.sigma=0.2", "sampler.schedule.alpha=50"}).first,
         0.25 * 2 / a);
}

/// With a schedule it is the pull that minds it: the last step is cut to a fifth of sigma_min^2 / alpha.
TEST(Defaults, TheAnnealedStepMindsTheWeightOfThePrior) {
  const auto last_step = [](const std::vector<std::string>& assignments) {
    return load(gaussian_prior + likelihood(0.1), assignments).sampler->step_size();
  };
  const double heavy = last_step(
      {"sampler.schedule.sigma_min=0.2", "sampler.schedule.alpha_0=1250", "sampler.schedule.allow_final_weight=true"});
  EXPECT_NEAR(heavy, 0.2 * 0.04 / 50, 1e-12);
  // A smaller weight than the usual one is one at the end.
  const double light = last_step({"sampler.schedule.sigma_min=0.02", "sampler.schedule.alpha_0=3"});
  EXPECT_NEAR(light, 0.2 * 4e-4, 1e-12);
}

TEST(Defaults, TheStepOfRedMindsItsWeight) {
  const auto problem =
      load(gaussian_prior + likelihood(0.1), {"sampler.kind=red", "sampler.sigma=0.3", "sampler.tau=2000"});
  const double expected = 1 / (*problem.posterior.likelihood->lipschitz() + 2000);
  EXPECT_NEAR(derived(problem, "step_size"), expected, 0.005 * expected);
  const auto again = load(problem.resolved);
  EXPECT_EQ(again.resolved, problem.resolved);
}

TEST(Defaults, ComplexImagesHaveThem) {
  const auto problem =
      load("prior: {kind: magnitude, prior: {kind: gaussian, image_shape: [1, 3, 4], mean: 1.2, variance: 0.04}}\n" +
           likelihood(0.01));
  // Four SDs of a component: E m^2 = 1.48, known to a percent from 768 draws.
  EXPECT_NEAR(derived(problem, "schedule.sigma_0"), 4 * std::sqrt(1.48 / 2), 0.1);
}

TEST(Defaults, DpsStartsFromItsOwnNoise) {
  const auto problem = load(gaussian_prior + likelihood(0.1), {"sampler.kind=dps"});
  EXPECT_EQ(problem.start.kind, Start::Kind::normal);
  EXPECT_EQ(problem.start.sd, *problem.sampler->start_sd());
  EXPECT_EQ(problem.plan.record_from, problem.plan.steps - 1);
}

TEST(Presets, AreTheSupplementsTables) {
  const auto cs = load(gaussian_prior + likelihood(0.1), {"sampler.preset=paper-cs-0.1"});
  EXPECT_EQ(cs.sampler->step_size(), 1e-5);
  EXPECT_EQ(cs.sampler->annealing(0).sigma, 348);
  EXPECT_NEAR(cs.sampler->annealing(0).alpha, 4444.0 * 348 * 348, 1);
  EXPECT_EQ(cs.sampler->annealing(3999).sigma, 0.015);
  EXPECT_TRUE(cs.derived.empty());
  const auto ula = load(gaussian_prior + likelihood(0.1),
                        {"sampler.preset=paper-mri-8x", "sampler.kind=pnp-ula", "sampler.variant=ori"});
  EXPECT_EQ(ula.sampler->step_size(), 5e-5);
  EXPECT_EQ(ula.sampler->annealing(0).sigma, 5.0 / 255);
  const auto dps = load(gaussian_prior + likelihood(0.1), {"sampler.preset=paper-cs-0.3", "sampler.kind=dps"});
  EXPECT_NEAR(dps.sampler->step_size(), 2 * (1 + std::sqrt(1 / 0.3)), 0.005);  // the table's, times |A|
}

TEST(Presets, GiveWayToGivenKeys) {
  const auto problem = load(gaussian_prior + likelihood(0.1),
                            {"sampler.preset=paper-cs-0.3", "sampler.schedule.sigma_0=2", "sampler.steps=50"});
  EXPECT_EQ(problem.sampler->annealing(0).sigma, 2);
  EXPECT_EQ(problem.sampler->annealing(49).sigma, 2 * std::pow(0.99, 49));
  EXPECT_EQ(problem.plan.steps, 50);
}

TEST(Presets, FitOtherSchedulesAsFarAsTheyGo) {
  const auto power =
      load(gaussian_prior + likelihood(0.1), {"sampler.preset=paper-cs-0.1", "sampler.schedule.kind=power"});
  EXPECT_NEAR(power.sampler->annealing(0).sigma, 348, 1e-9);
  EXPECT_EQ(power.sampler->annealing(3999).sigma, 0.015);
  const auto constant =
      load(gaussian_prior + likelihood(0.1), {"sampler.preset=paper-cs-0.1", "sampler.schedule.kind=constant"});
  EXPECT_EQ(constant.sampler->annealing(0).sigma, 0.015);
  EXPECT_EQ(constant.sampler->annealing(0).alpha, 1);
}

TEST(Presets, UnknownOnesAreRefused) {
  const auto refusal = [](const std::vector<std::string>& assignments) {
    return message_of([&] { load(gaussian_prior + likelihood(0.1), assignments); });
  };
  EXPECT_TRUE(contains(refusal({"sampler.preset=paper-cs"}), "paper-cs-0.1"));
  EXPECT_TRUE(contains(refusal({"sampler.preset=paper-cs-0.1", "sampler.kind=tv"}), "no values for tv"));
}

/// A likelihood whose curvature is not known.
class Unknown final : public Likelihood {
 public:
  using Likelihood::Likelihood;
  std::vector<Misfit> misfit(const Tensor&) const override { return {}; }
  Tensor simulate(const Tensor& x, const Cursor&) const override { return x; }

 private:
  Tensor do_value(const Tensor& x) const override { return x.new_zeros({x.size(0)}); }
  Tensor do_grad(const Tensor& x) const override { return at::zeros_like(x); }
};

TEST(Defaults, WhatCannotBeDerivedIsAskedFor) {
  const auto problem = load(gaussian_prior + likelihood(0.1));
  const Posterior posterior{std::make_shared<Unknown>(Shape{1, 3, 4}), problem.posterior.prior};
  const auto refusal = [&](const std::string& text) {
    auto settings = Settings::from_text(text, "config.yaml");
    return message_of([&] { derive_defaults(settings, *problem.entry, posterior); });
  };
  EXPECT_TRUE(contains(refusal("{}"), "schedule.sigma_min")) << refusal("{}");
  const auto step = refusal("{schedule: {sigma_min: 0.1}}");
  EXPECT_TRUE(contains(step, "config.yaml: step_size: missing; the curvature")) << step;
  EXPECT_EQ(refusal("{schedule: {sigma_min: 0.1}, step_size: 1e-3}"), "");
}

}  // namespace
}  // namespace penumbra::app
