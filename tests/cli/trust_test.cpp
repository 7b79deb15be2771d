/// What a run says of its own samples: the Stein discrepancy, the step's bias, what the data decided.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A Gaussian prior of variance 1 and data on the first of four pixels, y = 1, noise 0.5: h = 4, p = 1.
fs::path gaussian_problem(const std::string& sampler, int chains = 64) {
  const auto folder = test::scratch();
  io::write_npy(folder / "y.npy", at::ones({1}, at::kDouble));
  io::write_npy(folder / "mask.npy", at::tensor({1.0, 0.0, 0.0, 0.0}, at::kDouble).reshape({2, 2}));
  test::write_text(folder / "config.yaml", fmt::format(R"(
prior: {{kind: gaussian, image_shape: [1, 2, 2], variance: 1}}
likelihood: {{kind: inpainting, mask: mask.npy, noise_sd: 0.5, data: y.npy}}
sampler: {}
chains: {}
)",
                                                       sampler, chains));
  return folder / "config.yaml";
}

json run_summary(const fs::path& config, const std::vector<std::string>& more = {}) {
  const auto out = config.parent_path() / "run";
  fs::remove_all(out);
  std::vector<std::string> args{"sample", config.string(), "--out", out.string()};
  args.insert(args.end(), more.begin(), more.end());
  const auto result = test::penumbra(args);
  EXPECT_EQ(result.code, 0) << result.err;
  return json::parse(test::read_text(out / "summary.json"));
}

std::string text_about(const json& summary, const std::string& what) {
  for (const auto& verdict : summary["verdicts"])
    if (verdict["about"].get<std::string>() == what)
      return verdict["level"].get<std::string>() + ": " + verdict["text"].get<std::string>();
  return {};
}

const std::string red = "{kind: pmc-red, sigma: 0, step_size: 0.04, steps: 300, precision: float64}";

TEST(Trust, ASettledRunPassesTheSteinTestAndAnUnsettledOneDoesNot) {
  const auto config = gaussian_problem(red);
  const auto settled = run_summary(config);
  const auto& stein = settled["diagnostics"]["stein"];
  ASSERT_TRUE(stein["judged"].get<bool>()) << stein.dump();
  EXPECT_EQ(stein["samples"], 64);
  EXPECT_EQ(stein["sigma"], 0);
  EXPECT_FALSE(stein["rejected"].get<bool>()) << stein.dump();
  EXPECT_EQ(text_about(settled, "stein").find("good: nothing speaks against"), 0u) << text_about(settled, "stein");
  const auto report = test::read_text(config.parent_path() / "run" / "report.html");
  EXPECT_NE(report.find("Stein discrepancy"), std::string::npos);

  const auto early = run_summary(
      config, {"--set", "sampler.steps=3", "--set", "sampler.start.low=4", "--set", "sampler.start.high=5"});
  EXPECT_TRUE(early["diagnostics"]["stein"]["rejected"].get<bool>());
  EXPECT_EQ(text_about(early, "stein").find("warning: the samples are not those of the posterior"), 0u);
}

TEST(Trust, FewChainsAndDeterministicIterationsAreNotJudged) {
  const auto few = run_summary(gaussian_problem(red, 4));
  EXPECT_NE(text_about(few, "stein").find("note: kernel Stein discrepancy: 4 chains are too few"), std::string::npos);
  const auto one = run_summary(gaussian_problem("{kind: red, sigma: 0.1, steps: 20, tau: 1}", 1));
  EXPECT_FALSE(one["diagnostics"]["stein"]["judged"].get<bool>());
  EXPECT_EQ(text_about(one, "stein"), "");
}

TEST(Trust, TheStepsBiasIsThatOfTheGaussianLaw) {
  const auto red_run = run_summary(gaussian_problem(red));
  // lambda = 5, so that gamma lambda / 2 = 0.1: 1 / 0.9 - 1; half of it is 0.0526 = x / (1 - x) at gamma = 0.0211.
  const auto& bias = red_run["diagnostics"]["step"]["bias"];
  EXPECT_EQ(bias["along"].get<std::string>(), "data");
  EXPECT_NEAR(bias["variance_excess"].get<double>(), 1 / 0.9 - 1, 1e-6);
  EXPECT_NEAR(bias["halving_step_size"].get<double>(), 0.4 * (1 - 1 / (1 + 0.5 * (1 / 0.9 - 1))), 1e-6);
  EXPECT_EQ(bias["mean_shift_in_sd"], 0);
  EXPECT_NE(text_about(red_run, "step_size").find("inflates the variance by about 11 %"), std::string::npos)
      << text_about(red_run, "step_size");

  const auto pnp =
      run_summary(gaussian_problem("{kind: pmc-pnp, sigma: 0, step_size: 0.2, steps: 300, precision: float64}"));
  const auto& shifted = pnp["diagnostics"]["step"]["bias"];
  // M = 0.8 x 0.2 = 0.16: 2 / (1 - 0.0256) - 1. The mean solves 4 (m - 1) + m - 0.8 (m - 1) = 0: m = 3.2 / 4.2, which
  // is 0.0381 from 0.8, times sqrt(5) 0.0852 SD. The run's mean is known to sqrt(0.41 / (64 x 100)) = 0.008, which
  // moves the shift by 0.2 x 4 x 0.008 / sqrt(5) = 0.003; the direction's sign is free.
  EXPECT_NEAR(shifted["variance_excess"].get<double>(), 2 / (1 - 0.0256) - 1, 1e-6);
  EXPECT_NEAR(std::abs(shifted["mean_shift_in_sd"].get<double>()), 0.0852, 0.012);
}

TEST(Trust, MalaHasThePosteriorWhereAnUnadjustedStepIsBiased) {
  // gamma lambda = 1: RED's variance is 2 / 5 on the observed pixel, where the posterior's is 1 / 5.
  const std::string common = "sigma: 0, step_size: 0.2, steps: 400, precision: float64}";
  const auto run = [&](const std::string& kind) {
    const auto config = gaussian_problem("{kind: " + kind + ", " + common, 200);
    const auto summary = run_summary(config);
    const auto sd = io::read_npy(config.parent_path() / "run" / "sd.npy").to(at::kDouble).flatten();
    const auto mean = io::read_npy(config.parent_path() / "run" / "mean.npy").to(at::kDouble).flatten();
    return std::tuple{summary, mean, sd};
  };
  const auto [biased, biased_mean, biased_sd] = run("pmc-red");
  EXPECT_NEAR(biased_sd[0].item<double>(), std::sqrt(0.4), 0.02);
  const auto [summary, mean, sd] = run("mala");
  // 200 chains of 100 records or more, each worth a fifth of a draw at least: 4 / sqrt(2 x 4000) = 5 %.
  EXPECT_NEAR(sd[0].item<double>() / std::sqrt(0.2), 1, 0.05);
  for (int64_t i = 1; i < 4; ++i) EXPECT_NEAR(sd[i].item<double>(), 1, 0.05) << i;
  EXPECT_NEAR(mean[0].item<double>(), 0.8, 4 * std::sqrt(0.2 / 4000));
  const double accepted = summary["diagnostics"]["step"]["acceptance"].get<double>();
  EXPECT_GT(accepted, 0.5);
  EXPECT_LT(accepted, 0.999);
  EXPECT_FALSE(summary["diagnostics"]["step"].contains("bias"));
  EXPECT_NE(text_about(summary, "step_size").find("of the proposals were taken"), std::string::npos);
}

TEST(Trust, MalaDerivesItsStepAndDoesNotDependOnTheBatch) {
  const auto config = gaussian_problem("{kind: mala, steps: 60}", 16);
  const auto samples = [&] { return io::read_npy(config.parent_path() / "run" / "samples.npy"); };
  const auto whole = run_summary(config);
  const auto together = samples();
  EXPECT_EQ(whole["sampler"]["derived"][0]["key"].get<std::string>(), "sampler.sigma");
  // 1 / ((4 + 1) 4^(1/3)) = 0.126.
  EXPECT_NEAR(whole["sampler"]["step_size"].get<double>(), 0.126, 1e-3);
  const auto trace = test::read_text(config.parent_path() / "run" / "trace.csv");
  EXPECT_NE(trace.find("acceptance"), std::string::npos);
  const auto parts = run_summary(config, {"--set", "chains={count: 16, batch: 5}"});
  EXPECT_TRUE(samples().equal(together));
  EXPECT_NEAR(parts["diagnostics"]["step"]["acceptance"].get<double>(),
              whole["diagnostics"]["step"]["acceptance"].get<double>(), 1e-6);
}

TEST(Trust, MalaSaysWhyItRefusesALearnedPrior) {
  const auto folder = test::scratch();
  test::write_text(
      folder / "config.yaml",
      "{prior: {kind: magnitude, prior: {kind: random_field, side: 8, modes: 4}}, likelihood: {kind: none}, "
      "sampler: {kind: mala}}");
  const auto result = test::penumbra({"sample", (folder / "config.yaml").string(), "--out", (folder / "run").string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("mala needs the prior's log density"), std::string::npos) << result.err;
}

TEST(Trust, TheShareThatTheDataRemovedIsThatOfTheGaussians) {
  const auto config = gaussian_problem(red, 400);
  const auto summary = run_summary(config);
  EXPECT_TRUE(summary["data_share"]["known"].get<bool>()) << summary["data_share"].dump();
  EXPECT_EQ(summary["data_share"]["prior_sd_from"].get<std::string>(), "the prior's formula");
  const auto share = io::read_npy(config.parent_path() / "run" / "data_share.npy").flatten();
  EXPECT_TRUE(io::read_npy(config.parent_path() / "run" / "prior_sd.npy").equal(at::ones({1, 2, 2})));
  // SD sqrt(1 / 5 / 0.9) with the step's bias; 400 chains know it to 4 / sqrt(800) = 14 % at the very worst.
  EXPECT_NEAR(share[0].item<double>(), 1 - std::sqrt(0.2 / 0.9), 0.07);
  for (int64_t i = 1; i < 4; ++i) EXPECT_NEAR(share[i].item<double>(), 0, 0.14) << i;
  EXPECT_NE(test::read_text(config.parent_path() / "run" / "report.html").find("What the data decided"),
            std::string::npos);

  const auto none = run_summary(config, {"--set", "output.prior_sd=none"});
  EXPECT_FALSE(none["data_share"]["known"].get<bool>());
  EXPECT_FALSE(fs::exists(config.parent_path() / "run" / "data_share.npy"));

  io::write_npy(config.parent_path() / "twice.npy", at::full({2, 2}, 2.0));
  const auto file = run_summary(config, {"--set", "output.prior_sd=twice.npy"});
  EXPECT_EQ(file["data_share"]["prior_sd_from"].get<std::string>(), "twice.npy");
  EXPECT_NEAR(io::read_npy(config.parent_path() / "run" / "data_share.npy").flatten()[3].item<double>(), 0.5, 0.07);
}

TEST(Trust, DrawsOfThePriorTakeThePlaceOfASpreadThatIsNotStored) {
  const auto folder = test::scratch();
  test::write_text(folder / "config.yaml", R"(
prior: {kind: magnitude, prior: {kind: gaussian, image_shape: [1, 4, 4], mean: 1, variance: 0.04}}
likelihood: {kind: none}
sampler: {kind: pmc-red, sigma: 0.1, step_size: 1e-3, steps: 5}
chains: 8
)");
  const auto unknown = run_summary(folder / "config.yaml");
  EXPECT_FALSE(unknown["data_share"]["known"].get<bool>());
  EXPECT_NE(unknown["data_share"]["why_not"].get<std::string>().find("output.prior_sd: draws"), std::string::npos);
  const auto drawn = run_summary(folder / "config.yaml", {"--set", "output.prior_sd=draws"});
  ASSERT_TRUE(drawn["data_share"]["known"].get<bool>()) << drawn["data_share"].dump();
  EXPECT_EQ(drawn["data_share"]["prior_sd_from"].get<std::string>(), "64 draws");
  const auto sd = io::read_npy(folder / "run" / "prior_sd.npy");
  ASSERT_EQ(sd.sizes(), at::IntArrayRef({2, 4, 4}));
  // A component of a number of magnitude 1 +- 0.2 and free phase has the SD sqrt(1.04 / 2) = 0.72. 64 draws
  // of 32 numbers know it to 2 %; the rest of the 15 % is for the denoiser, an approximation (magnitude.h).
  EXPECT_NEAR(sd.mean().item<double>(), 0.72, 0.11);
}

TEST(Trust, ExtrapolationRemovesTheBiasOfTheStep) {
  // gamma lambda / 2 = 0.2: the variance is 25 % too large, extrapolated 2 / 0.9 - 1 / 0.8 = 0.972 of the posterior's.
  const auto config =
      gaussian_problem("{kind: pmc-red, sigma: 0, step_size: 0.08, steps: 400, precision: float64}", 400);
  run_summary(config);
  const auto run = config.parent_path() / "run";
  const auto sd_of = [&](const fs::path& folder) {
    return io::read_npy(folder / "sd.npy").flatten()[0].item<double>() / std::sqrt(0.2);
  };
  const auto extrapolate = [&] { return test::penumbra({"extrapolate", run.string(), "--json"}); };
  const auto result = extrapolate();
  ASSERT_EQ(result.code, 0) << result.err;
  // 400 chains of 128 records with an autocorrelation of a few steps are 5000 draws and more: the SDs are known to 1 %,
  // the extrapolated one to sqrt(5) times that, and 4 of those.
  EXPECT_NEAR(sd_of(run), std::sqrt(1 / 0.8), 0.04);
  EXPECT_NEAR(sd_of(run / "half-step"), std::sqrt(1 / 0.9), 0.04);
  EXPECT_NEAR(sd_of(run / "extrapolated"), std::sqrt(0.972), 0.09);
  EXPECT_LT(sd_of(run / "extrapolated"), sd_of(run / "half-step"));
  const auto summary = json::parse(test::read_text(run / "summary.json"));
  const auto& about = summary["extrapolation"];
  EXPECT_NEAR(about["step_sizes"][1].get<double>(), 0.04, 1e-12);
  EXPECT_EQ(about["unusable_pixels"], 0);
  const auto half_summary = json::parse(test::read_text(run / "half-step" / "summary.json"));
  const auto error = [](const json& of) {
    return of["diagnostics"]["monte_carlo_error"]["mean_over_sd"].get<double>();
  };
  EXPECT_NEAR(about["mean_error_in_sd"].get<double>(), std::hypot(2 * error(half_summary), error(summary)), 1e-12);
  EXPECT_NE(text_about(summary, "extrapolation").find("extrapolated to step size 0"), std::string::npos);
  EXPECT_NE(test::read_text(run / "report.html").find("Without the step"), std::string::npos);
  const auto half_config = test::read_text(run / "half-step" / "config.yaml");
  EXPECT_NE(half_config.find("steps: 800"), std::string::npos) << half_config;

  const auto before = test::read_text(run / "extrapolated" / "sd.npy");
  const auto again = extrapolate();  // the second run is there
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(test::read_text(run / "extrapolated" / "sd.npy"), before);
  const auto twice = json::parse(test::read_text(run / "summary.json"));
  EXPECT_EQ(twice["verdicts"].size(), summary["verdicts"].size()) << "the verdict is replaced";
  for (const auto& printed : {result.out, again.out}) EXPECT_EQ(json::parse(printed), about) << "JSON and no more";

  const auto said = test::penumbra({"extrapolate", run.string()}).out;
  const auto first_verdict = half_summary["verdicts"][0]["text"].get<std::string>();
  EXPECT_EQ(said.find("of the run with half of the step size"), 0u) << said;
  EXPECT_LT(said.find(first_verdict), said.find("extrapolated to step size 0 the mean moves by")) << said;
  EXPECT_NE(said.find("0 % of the pixels cannot be extrapolated"), std::string::npos) << said;
}

TEST(Trust, ExtrapolationContinuesAnInterruptedSecondRunExactly) {
  const auto config = gaussian_problem(
      "{kind: apmc-pnp, step_size: 0.02, steps: 4000, schedule: {sigma_0: 2, "
      "sigma_min: 0.1, xi: 0.999}}",
      16);
  run_summary(config, {"--set", "output.checkpoint_every_steps=500"});
  const auto run = config.parent_path() / "run", half = run / "half-step";
  const auto pid = test::start({"extrapolate", run.string()});
  for (int wait = 0; wait < 60'000 && !fs::exists(half / "checkpoint" / "1000"); ++wait) usleep(1000);
  kill(pid, SIGTERM);
  ASSERT_EQ(test::wait_for(pid), 130);
  ASSERT_FALSE(fs::exists(half / "mean.npy"));
  const auto resumed = test::penumbra({"extrapolate", run.string()});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto mean = test::read_text(half / "mean.npy"), sd = test::read_text(run / "extrapolated" / "sd.npy");
  fs::remove_all(half);
  ASSERT_EQ(test::penumbra({"extrapolate", run.string()}).code, 0);
  EXPECT_EQ(test::read_text(half / "mean.npy"), mean);
  EXPECT_EQ(test::read_text(run / "extrapolated" / "sd.npy"), sd);
}

TEST(Trust, ExtrapolationRefusesWhatHasNoBiasAndWhatIsNotComplete) {
  const auto config = gaussian_problem("{kind: mala, steps: 20}", 8);
  run_summary(config);
  const auto run = config.parent_path() / "run";
  const auto refused = test::penumbra({"extrapolate", run.string()});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("sampler.kind: expected a Langevin chain with a step-size bias"), std::string::npos)
      << refused.err;
  const auto nothing = test::penumbra({"extrapolate", config.parent_path().string()});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("expected the folder of a run that is complete"), std::string::npos) << nothing.err;
}

TEST(Trust, AWrongPriorSdIsNamed) {
  const auto config = gaussian_problem(red);
  const auto message = [&](const std::string& value) {
    return test::penumbra({"sample", config.string(), "--out", (config.parent_path() / "bad").string(), "--set",
                           "output.prior_sd=" + value})
        .err;
  };
  EXPECT_NE(message("drawz").find("output.prior_sd: expected an existing file"), std::string::npos);
  io::write_npy(config.parent_path() / "small.npy", at::ones({3, 3}));
  EXPECT_NE(message("small.npy").find("small.npy: expected the SD of every pixel"), std::string::npos);
  io::write_npy(config.parent_path() / "negative.npy", -at::ones({2, 2}));
  EXPECT_NE(message("negative.npy").find("negative or not finite"), std::string::npos);
}

}  // namespace
}  // namespace penumbra
