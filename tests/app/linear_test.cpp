/// The comparison of methods on linear problems: many posteriors in one batch, what is kept, which claims are checked.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "app/experiments/linear/comparison.h"
#include "app/experiments/linear/method_file.h"
#include "app/experiments/linear/run.h"
#include "app/experiments/linear/scaled_denoiser.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::app::linear {
namespace {

using test::in_double;
using test::numbers;

std::shared_ptr<const ForwardModel> model() {
  const auto like = at::empty({9, 16}, at::kDouble);
  return std::make_shared<DenseModel>(Shape{1, 4, 4}, normal({1, 0, 0}, Stream::probe, like) / 3);
}

TEST(ManyImages, IsTheLikelihoodOfEachImageForItsOwnChains) {
  const auto A = model();
  const auto y = numbers(2, {3, 9}, 0), x = numbers(2, {6, 1, 4, 4}, 1);
  const ManyImages together(A, y, {0.1, squared_norm(*A, in_double)}, 2);
  for (int64_t image = 0; image < 3; ++image) {
    const GaussianLikelihood alone(A, y[image], 0.1);
    const auto own = x.narrow(0, 2 * image, 2);
    EXPECT_LT(test::relative_error(together.grad(x).narrow(0, 2 * image, 2), alone.grad(own)), 1e-13);
    EXPECT_LT(test::relative_error(together.value(x).narrow(0, 2 * image, 2), alone.value(own)), 1e-13);
  }
  EXPECT_NEAR(together.lipschitz().value() / GaussianLikelihood(A, y[0], 0.1).lipschitz().value(), 1, 1e-9);
}

/// For N(black, v) the denoiser is known at every level: black + (x - black) v / (v + sigma^2). Scaled by mu the images
/// have variance mu^2 v, so one of that variance, asked at its own level, is the same denoiser at level / mu.
TEST(ScaledDenoiser, AnswersAtAnotherLevelAsTheDenoiserOfTheScaledImages) {
  const double v = 0.3, level = 0.2, sigma = 0.05, mu = level / sigma;
  const auto prior = [](double variance) {
    return make_prior(
        Settings::from_text(
            fmt::format("{{kind: gaussian, image_shape: [1, 4, 4], mean: -1, variance: {:.17g}}}", variance), "test"),
        in_double);
  };
  const ScaledDenoiser scaled(prior(mu * mu * v), level);
  const auto x = numbers(2, {2, 1, 4, 4}, 7), expected = -1 + (x + 1) * v / (v + sigma * sigma);
  EXPECT_LT(test::relative_error(scaled.denoise(x, sigma), expected), 1e-12);
  EXPECT_LT(test::relative_error(scaled.score(x, sigma), (expected - x) / (sigma * sigma)), 1e-11);
}

TEST(MethodFile, NamesSamplersAndGivesTheDenoiserToPnpAndRed) {
  const auto path = test::scratch() / "methods.yaml";
  test::write_text(path, "short one: {kind: apmc-pnp, steps: 5, schedule: {sigma_0: 2}}\nR: {kind: red, sigma: 0.1}\n");
  const auto methods = read_methods(path);
  ASSERT_EQ(methods.size(), 2u);
  EXPECT_EQ(methods[0].name, "short one");
  EXPECT_EQ(methods[0].sampler, "{kind: apmc-pnp, steps: 5, schedule: {sigma_0: 2}}");
  EXPECT_FALSE(methods[0].denoiser);
  EXPECT_TRUE(methods[1].denoiser);
  const auto refusal = [&](const std::string& text) {
    test::write_text(path, text);
    return test::message_of([&] { read_methods(path); });
  };
  EXPECT_TRUE(test::contains(refusal("[1, 2]"), "methods.yaml: expected lines of NAME"));
  EXPECT_TRUE(test::contains(refusal("a: {steps: 3}"), "methods.yaml:1: "));
  EXPECT_TRUE(test::contains(refusal("a/b: {kind: tv}"), "without /"));
}

/// A small problem with a prior that has a formula.
Problem problem() {
  Problem p;
  p.task = {"cs-0.1", "m/n = 0.1", Subject::face, "random_field", "dense"};
  p.placement = in_double;
  p.prior = make_prior(Settings::from_text("{kind: random_field, side: 4, modes: 4}", "test"), in_double);
  p.denoiser = p.prior;
  p.A = model();
  p.truths = 0.3 * numbers(2, {3, 1, 4, 4}, 3);
  p.names = {"a", "b", "c"};
  p.beta = 0.1;
  p.y = p.A->apply(p.truths) + 0.1 * numbers(2, {3, 9}, 4);
  p.norm_sq = squared_norm(*p.A, in_double);
  return p;
}

const Method langevin{"APMC-PnP",
                      "{kind: apmc-pnp, steps: 40, step_size: 1e-3, schedule: {sigma_0: 1, sigma_min: 0.1, xi: 0.9, "
                      "alpha_0: 100}}"};
const auto quietly = [](const std::string&, int64_t, int64_t) {};

TEST(Reconstruct, JudgesEveryImageAndKeepsTheCourse) {
  const auto p = problem();
  const auto r = reconstruct(p, langevin, {.chains = 5, .seed = 1, .course_points = 4}, quietly);
  ASSERT_EQ(r.images.size(), 3u);
  EXPECT_EQ(r.mean.sizes(), p.truths.sizes());
  EXPECT_FALSE(r.diverged);
  ASSERT_EQ(r.course.size(), 4u);
  EXPECT_EQ(r.course.back().first, 40);
  const auto mse = (r.mean[1] - p.truths[1]).square().mean().item<double>();
  EXPECT_NEAR(r.images[1].mse, mse, 1e-12);
}

TEST(Reconstruct, AMapMethodHasOneChainAndNoUncertainty) {
  const auto r = reconstruct(problem(), {"RED", "{kind: red, steps: 5, step_size: 1e-3, sigma: 0.1}", true},
                             {.chains = 5}, quietly);
  EXPECT_EQ(r.chains, 1);
  EXPECT_FALSE(r.sd.defined());
  EXPECT_EQ(r.average(&Quality::coverage), 0);
}

TEST(Reconstruct, WhatWasKeptComesBackUnlessItWasMadeFromSomethingElse) {
  const auto folder = test::scratch();
  const auto r = reconstruct(problem(), langevin, {.chains = 3}, quietly);
  keep(r, folder, "key", "these settings");
  EXPECT_FALSE(kept(folder, "key", "others"));
  EXPECT_FALSE(kept(folder, "other", "these settings"));
  const auto back = kept(folder, "key", "these settings");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sampler, r.sampler);
  EXPECT_EQ(back->course, r.course);
  EXPECT_LT(test::relative_error(back->sd, r.sd), 1e-6);
  for (const auto& [name, value] : quality_fields()) EXPECT_EQ(back->average(value), r.average(value)) << name;
}

TEST(Reconstruct, WhatDivergedIsKeptAsNotANumber) {
  const auto folder = test::scratch();
  const Method wild{"PMC-RED", "{kind: pmc-red, steps: 200, step_size: 1e3, sigma: 0.1}"};
  const auto r = reconstruct(problem(), wild, {.chains = 3}, quietly);
  ASSERT_TRUE(r.diverged);
  keep(r, folder, "key", "settings");
  const auto back = kept(folder, "key", "settings");
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->diverged);
  ASSERT_EQ(back->course.size(), r.course.size());
  EXPECT_TRUE(std::isnan(r.course.back().second));
  EXPECT_TRUE(std::isnan(back->course.back().second));
  EXPECT_TRUE(std::isnan(back->average(&Quality::psnr)));
}

TEST(Reconstruct, AnOldStandardDeviationIsNotTakenForANewOne) {
  const auto folder = test::scratch();
  keep(reconstruct(problem(), langevin, {.chains = 3}, quietly), folder, "key", "settings");
  const Method red{"RED", "{kind: red, steps: 5, step_size: 1e-3, sigma: 0.1}", true};
  keep(reconstruct(problem(), red, {.chains = 3}, quietly), folder, "key", "settings");
  ASSERT_TRUE(std::filesystem::exists(folder / "key.sd.npy"));
  EXPECT_FALSE(kept(folder, "key", "settings")->sd.defined());
}

TEST(Fingerprint, ChangesWithAllThatAReconstructionDependsOn) {
  const auto weights = test::scratch() / "weights";
  test::write_text(weights, "one");
  auto p = problem();
  p.files = {weights};
  const Method derived{"PMC-RED", "{kind: pmc-red, steps: 40}"};
  const auto before = fingerprint(p, derived, {});
  EXPECT_EQ(fingerprint(p, derived, {}), before);
  EXPECT_NE(fingerprint(p, derived, {.chains = 3}), before);
  EXPECT_NE(fingerprint(p, {"PMC-RED", "{kind: pmc-red, steps: 41}"}, {}), before);
  auto noisier = p;
  noisier.beta = 0.3;  // and so another step than the derived one
  EXPECT_NE(fingerprint(noisier, derived, {}), before);
  test::write_text(weights, "two");
  EXPECT_NE(fingerprint(p, derived, {}), before);
}

TEST(UncertaintyFigure, ADivergedMethodLeavesTheScaleToTheOthers) {
  TaskResults task;
  task.problem = problem();
  auto good = reconstruct(task.problem, langevin, {.chains = 3}, quietly), lost = good;
  lost.mean = at::full_like(good.mean, std::nan(""));
  lost.sd = at::full_like(good.sd, std::nan(""));
  lost.diverged = true;
  task.reconstructions = {good};
  const auto alone = uncertainty_figure(task, 0);
  task.reconstructions = {good, lost};
  const auto beside = uncertainty_figure(task, 0);
  EXPECT_TRUE(alone.equal(beside.narrow(2, 0, alone.size(2))));
  EXPECT_GT(alone.max().item<int>(), alone.min().item<int>());
}

Reconstruction with(const std::string& method, bool random, double psnr, double nll, double coverage) {
  Reconstruction r;
  r.method = method;
  r.random = random;
  r.images = {{.psnr = psnr, .nll = nll, .coverage = coverage}};
  return r;
}

Comparison results(double apmc_psnr, double apmc_nll, double coverage) {
  TaskResults task;
  task.problem.task = {"cs-0.1", "m/n = 0.1", Subject::face, "", ""};
  task.reconstructions = {with("TV", false, 20, 0, 0), with("DPS", true, 27, -1, 0.9), with("PMC-RED", true, 10, 1, 1),
                          with("APMC-PnP", true, apmc_psnr, apmc_nll, coverage)};
  Comparison comparison;
  comparison.tasks.push_back(task);
  return comparison;
}

TEST(PaperClaims, HoldOrFailByTheNumbers) {
  const auto passed = [](const Comparison& c) {
    std::string marks;
    for (const auto& check : paper_claims(c)) marks += check.passed ? '+' : '-';
    return marks;
  };
  EXPECT_EQ(passed(results(28, -1.5, 0.97)), "+++++");
  EXPECT_EQ(passed(results(26, -1.5, 0.97)), "+-+++");  // below DPS in PSNR
  EXPECT_EQ(passed(results(21, -1.5, 0.97)), "--+++");  // not 2 dB above TV
  EXPECT_EQ(passed(results(28, -0.9, 0.94)), "++--+");  // worse NLL, too narrow
  EXPECT_EQ(passed(results(14, -1.5, 0.97)), "--++-");  // no better than without annealing
}

/// VarNet-4x at 8x, VarNet-8x at 8x; at 4x the other way round.
Comparison beside_varnet(double strange, double matched, double apmc) {
  Comparison comparison;
  for (const auto* key : {"mri-8x", "mri-4x"}) {
    const bool hard = std::string(key) == "mri-8x";
    TaskResults task;
    task.problem.task = {key, hard ? "8x" : "4x", Subject::brain, "", ""};
    task.reconstructions = {with("VarNet-4x", false, hard ? strange : matched, 0, 0),
                            with("VarNet-8x", false, hard ? matched : strange, 0, 0),
                            with("APMC-RED", true, apmc, -2, 1), with("APMC-PnP", true, apmc, -2, 1)};
    comparison.tasks.push_back(task);
  }
  return comparison;
}

TEST(VarNetClaims, HoldOrFailByTheNumbers) {
  const auto passed = [](const Comparison& c) {
    std::string marks;
    for (const auto& check : varnet_claims(c)) marks += check.passed ? '+' : '-';
    return marks;
  };
  EXPECT_EQ(passed(beside_varnet(28, 32, 33)), "++++++");
  EXPECT_EQ(passed(beside_varnet(31, 32, 33)), "-+++++");  // 1 dB below is too little at 8x
  EXPECT_EQ(passed(beside_varnet(33, 32, 33)), "-++-++");  // the stranger leads
  EXPECT_EQ(passed(beside_varnet(28, 32, 30.9)), "+--+--");
  auto diverged = beside_varnet(28, 32, 33);
  diverged.tasks[0].reconstructions[1].diverged = true;
  EXPECT_EQ(passed(diverged), "---+++");
}

TEST(VarNetMethods, AreTwoNetworksAndApmcAsInTheOtherTables) {
  auto p = problem();
  p.task.key = "mri-8x";
  const auto all = methods(p, false, 0), beside = varnet_methods(p, false, 0), quick = varnet_methods(p, true, 0);
  ASSERT_EQ(beside.size(), 4u);
  EXPECT_EQ(beside[0].sampler, "{kind: varnet, name: varnet-4x, steps: 1}");
  EXPECT_EQ(quick[1].sampler, "{kind: varnet, name: varnet-8x-64, steps: 1}");
  for (const size_t i : {2, 3}) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Method& m) { return m.name == beside[i].name; });
    ASSERT_NE(same, all.end());
    EXPECT_EQ(same->sampler, beside[i].sampler);
  }
  for (const auto& method : beside)
    for (const auto* task : {"mri-8x", "mri-4x"}) EXPECT_TRUE(paper_row(method.name, task)) << method.name;
}

TEST(PaperTables, PnpUlaNpIsPmcRed) {
  ASSERT_TRUE(paper_row("PnP-ULA-NP", "cs-0.3"));
  EXPECT_EQ(paper_row("PnP-ULA-NP", "cs-0.3")->psnr, paper_row("PMC-RED", "cs-0.3")->psnr);
  EXPECT_FALSE(paper_row("TV", "cs-0.1"));
}

}  // namespace
}  // namespace penumbra::app::linear
