/// Every command once, as a user would call it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "io/fits_reader.h"
#include "io/npy.h"
#include "priors/random_field.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

nlohmann::json parsed(const Result& result) {
  EXPECT_EQ(result.code, 0) << result.err;
  return nlohmann::json::parse(result.out);
}

TEST(Commands, ScoreAndDenoiseAreThePriors) {
  const auto folder = scratch();
  write_text(folder / "prior.yaml", "prior: {kind: random_field, side: 8, modes: 4}");
  const auto prior = random_field({.side = 8, .modes = 4}, {at::kDouble, at::kCPU});
  const auto x = *prior->draw(3, {1, 0, 0});
  io::write_npy(folder / "x.npy", x);
  const auto apply = [&](const std::string& command) {
    const auto result =
        penumbra({command, "--prior", (folder / "prior.yaml").string(), "--input", (folder / "x.npy").string(),
                  "--sigma", "0.1,0.5,0.5", "--output", (folder / "out.npy").string(), "--precision", "float64"});
    EXPECT_EQ(result.code, 0) << result.err;
    return io::read_npy(folder / "out.npy");
  };
  const auto at_each = [&](auto&& f) { return at::cat({f(x.narrow(0, 0, 1), 0.1), f(x.narrow(0, 1, 2), 0.5)}); };
  EXPECT_LT(relative_error(apply("score"), at_each([&](const Tensor& v, double s) { return prior->score(v, s); })),
            1e-12);
  EXPECT_LT(relative_error(apply("denoise"), at_each([&](const Tensor& v, double s) { return prior->denoise(v, s); })),
            1e-12);
}

TEST(Commands, GenerateDrawsInAFewDozenStepsWhateverTheBatch) {
  const auto folder = scratch();
  write_text(folder / "prior.yaml", "{kind: gaussian, image_shape: [1, 4, 4], mean: 2, variance: 0.25}");
  const auto draw = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> args{"generate",
                                  "--prior",
                                  (folder / "prior.yaml").string(),
                                  "--count",
                                  "400",
                                  "--out",
                                  (folder / name).string(),
                                  "--seed",
                                  "5",
                                  "--device",
                                  "cpu"};
    args.insert(args.end(), more.begin(), more.end());
    const auto result = penumbra(args);
    EXPECT_EQ(result.code, 0) << result.err;
    return io::read_npy(folder / name / "samples.npy");
  };
  const auto samples = draw("all", {});
  ASSERT_EQ(samples.sizes(), (std::vector<int64_t>{400, 1, 4, 4}));
  ASSERT_EQ(samples.scalar_type(), at::kFloat);
  // Four standard errors of 6400 numbers; the start at mean 0 shifts the mean by 2 sd / sigma_max; 32 steps stretch the
  // distances from the mean by about 1 %.
  EXPECT_NEAR(samples.mean().item<double>(), 2, 4 * 0.5 / 80 + 1.0 / 80);
  EXPECT_NEAR(samples.std().item<double>(), 0.5, 4 * 0.5 / std::sqrt(2 * 6400.0) + 0.008);
  EXPECT_LT(relative_error(draw("batches", {"--batch", "150"}), samples), 1e-5);
  EXPECT_GT(relative_error(draw("churned", {"--churn", "20"}), samples), 0.05);

  const auto sd = io::read_npy(folder / "all" / "sd.npy");
  EXPECT_LT(relative_error(sd, samples.std(0, /*unbiased=*/true)), 1e-5);

  const auto about = nlohmann::json::parse(read_text(folder / "batches" / "samples.json"));
  EXPECT_EQ(about["method"].get<std::string>(), "heun");
  EXPECT_EQ(about["prior"]["kind"].get<std::string>(), "gaussian");
  EXPECT_EQ(about["device"].get<std::string>(), "cpu");
  EXPECT_EQ(about["steps"].get<int>(), 32);
  EXPECT_EQ(about["sigmas"].size(), 33U);
  EXPECT_EQ(about["seed"].get<int>(), 5);
  EXPECT_GT(about["seconds"].get<double>(), 0);
}

TEST(Commands, GenerateDrawsFromThePriorByLangevinDynamics) {
  const auto folder = scratch();
  write_text(folder / "prior.yaml", "{kind: gaussian, image_shape: [1, 4, 4], mean: 2, variance: 0.25}");
  const auto result = penumbra({"generate", "--prior", (folder / "prior.yaml").string(), "--count", "400", "--out",
                                (folder / "out").string(), "--method", "langevin", "--steps", "600", "--sigma-0", "5",
                                "--sigma-min", "0.1", "--batch", "300"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto samples = io::read_npy(folder / "out" / "samples.npy");
  ASSERT_EQ(samples.sizes(), (std::vector<int64_t>{400, 1, 4, 4}));
  // The last denoising leaves v^2 / (v + s^2) of the variance v + s^2; four standard errors of 6400 numbers, and the
  // step size's own inflation of a few per cent.
  EXPECT_NEAR(samples.mean().item<double>(), 2, 4 * 0.5 / 80);
  EXPECT_NEAR(samples.std().item<double>(), 0.25 / std::sqrt(0.26), 0.03);
  EXPECT_TRUE(fs::exists(folder / "out" / "samples.png"));
}

TEST(Commands, InfoSaysWhatThingsAre) {
  const auto config = small_problem();
  const auto run = config.parent_path() / "run";
  ASSERT_EQ(penumbra({"sample", config.string(), "--out", run.string()}).code, 0);
  EXPECT_EQ(info(run)["outcome"], "finished");
  EXPECT_EQ(info(config)["sampler"], "apmc-pnp");
  // Prior and likelihood are a whole configuration; a prior alone is a prior.
  const auto file = config.parent_path() / "short.yaml";
  write_text(file, "prior: {kind: random_field, side: 8}\nlikelihood: {kind: none}\n");
  const auto brief = info(file);
  EXPECT_EQ(brief["kind"], "configuration");
  EXPECT_EQ(brief["sampler"], "apmc-pnp");
  write_text(file, "prior: {kind: random_field, side: 8}\n");
  EXPECT_EQ(info(file)["kind"], "prior");
  EXPECT_EQ(info(run / "samples.npy")["shape"], (std::vector<int64_t>{6, 1, 12, 12}));
}

TEST(Commands, InfoSaysWhatWeightsAre) {
  const auto about = info(corpus("torch_file/training.ckpt"));
  EXPECT_EQ(about["tensors"], 4);
  EXPECT_EQ(about["parameters"], 7);
  EXPECT_EQ(about["types"], nlohmann::json({{"Float", 4}}));
  EXPECT_EQ(about["chosen"].get<std::string>(), "state_dict_ema, prefix 'module.model.'");
  EXPECT_TRUE(about["not_executed"].is_array());
  const auto header = info(corpus("safetensors/two.safetensors"))["header"];
  EXPECT_EQ(header, nlohmann::json({{"a", {1}}}));
  const auto unnamed = scratch() / "epoch_12";
  fs::copy(corpus("torch_file/training.ckpt"), unnamed);
  EXPECT_EQ(info(unnamed)["tensors"], 4);
  write_text(unnamed, "a text");
  const auto text = penumbra({"info", unnamed.string()});
  EXPECT_EQ(text.code, 2);
  EXPECT_NE(text.err.find("epoch_12: expected a run's folder"), std::string::npos) << text.err;
  const auto hostile = penumbra({"info", corpus("torch_file/hostile.pth").string()});
  EXPECT_EQ(hostile.code, 2);
  EXPECT_NE(hostile.err.find("posix.system, which is not executed"), std::string::npos) << hostile.err;
}

TEST(Commands, EvaluateWritesMetricsAndReport) {
  const auto config = small_problem();
  const auto run = config.parent_path() / "run", truth = config.parent_path() / "truth.npy";
  ASSERT_EQ(penumbra({"sample", config.string(), "--out", run.string()}).code, 0);
  const auto printed = parsed(penumbra({"evaluate", run.string(), "--truth", truth.string(), "--json"}));
  EXPECT_EQ(printed, nlohmann::json::parse(read_text(run / "metrics.json")));
  const auto mean = io::read_npy(run / "mean.npy").to(at::kDouble), x = io::read_npy(truth);
  EXPECT_NEAR(printed["mse"].get<double>(), (mean - x).square().mean().item<double>(), 1e-9);
  fs::remove(run / "report.html");
  EXPECT_EQ(penumbra({"report", run.string()}).code, 0);
  EXPECT_NE(read_text(run / "report.html").find("Truth"), std::string::npos);
}

TEST(Commands, PriorAndLikelihoodAreASufficientConfiguration) {
  const auto folder = scratch();
  const auto config = folder / "config.yaml", run = folder / "run", rerun = folder / "rerun";
  write_text(config, R"(
prior: {kind: gaussian, image_shape: [1, 3, 4], variance: 0.3}
likelihood: {kind: gaussian, ratio: 0.5, noise_sd: 0.3, data: y.npy}
)");
  io::write_npy(folder / "y.npy", at::linspace(-1, 1, 6, at::kDouble));
  const auto first = penumbra({"sample", config.string(), "--out", run.string()});
  ASSERT_EQ(first.code, 0) << first.err;
  const auto summary = nlohmann::json::parse(read_text(run / "summary.json"));
  std::set<std::string> derived;
  for (const auto& one : summary["sampler"]["derived"]) derived.insert(one["key"].get<std::string>());
  EXPECT_EQ(derived,
            (std::set<std::string>{"sampler.schedule.sigma_0", "sampler.schedule.sigma_min", "sampler.schedule.xi",
                                   "sampler.schedule.alpha_0", "sampler.step_size", "sampler.steps", "sampler.pull"}));
  EXPECT_NE(read_text(run / "report.html").find("left these to Penumbra"), std::string::npos);
  ASSERT_EQ(penumbra({"sample", (run / "config.yaml").string(), "--out", rerun.string()}).code, 0);
  EXPECT_EQ(read_text(rerun / "config.yaml"), read_text(run / "config.yaml"));
  EXPECT_TRUE(io::read_npy(rerun / "samples.npy").equal(io::read_npy(run / "samples.npy")));
}

TEST(Commands, CertifyGivesTheBoundAboveWhatIsMeasured) {
  const auto folder = scratch();
  write_text(folder / "config.yaml", R"(
prior: {kind: gaussian, image_shape: [1, 1, 2], mean: [1, -1], covariance: [2, 0.3, 0.3, 1.5]}
likelihood: {kind: gaussian, rows: 2, matrix_seed: 4, noise_sd: 1, data: y.npy}
sampler: {kind: pmc-red, steps: 1000, step_size: 0.05, sigma: 0.1, start: {kind: normal, mean: 3, sd: 1}}
)");
  io::write_npy(folder / "y.npy", at::tensor({0.4, -0.3}, at::kDouble));
  const auto certificate = parsed(penumbra({"certify", (folder / "config.yaml").string(), "--json"}));
  ASSERT_TRUE(certificate["bound"]["complete"].get<bool>()) << certificate.dump();
  const double measured = certificate["measured"]["averaged_fisher_information"];
  EXPECT_GT(measured, 0);
  EXPECT_GT(certificate["bound"]["sum"].get<double>(), measured);
  // 1 / (smallest eigenvalue of the covariance + sigma^2).
  const double smallest = 1.75 - std::sqrt(0.0625 + 0.09);
  EXPECT_NEAR(certificate["constants"]["L_sigma"]["value"].get<double>(), 1 / (smallest + 0.01), 1e-9);
  const auto human = penumbra({"certify", (folder / "config.yaml").string()});
  EXPECT_EQ(human.code, 0) << human.err;
  EXPECT_NE(human.out.find("bound / measured"), std::string::npos) << human.out;
}

TEST(Commands, BenchMeasuresEveryPart) {
  const auto table = parsed(penumbra({"bench", "--side", "8", "--chains", "2", "--seconds", "0.01", "--json"}));
  for (const auto* part : {"noise", "likelihood gradient", "score", "whole step (apmc-pnp)"})
    EXPECT_GT(table["milliseconds"][part].get<double>(), 0) << part;
}

TEST(Commands, TheQuickValidationPassesItsOwnChecks) {
  const auto out = scratch();
  const auto result = penumbra({"experiment", "validation-2d", "--quick", "--out", out.string()});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  for (const auto* file : {"report.html", "table.md", "table.csv", "curves.csv", "run.json"})
    EXPECT_TRUE(fs::exists(out / file)) << file;
}

TEST(Commands, TheQuickStatisticalValidationPassesItsOwnChecks) {
  const auto out = scratch();
  const auto result = penumbra({"experiment", "statistical", "--quick", "--out", out.string()});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

/// A few steps say nothing of the methods; every one of them runs, and the tables and pictures are there.
TEST(Commands, TheLinearExperimentsRunEveryMethod) {
  for (const std::string name : {"cs", "mri"}) {
    const auto out = scratch();
    const std::vector<std::string> words{"experiment", name,      "--quick", "--count", "1",         "--chains",
                                         "2",          "--steps", "6",       "--out",   out.string()};
    const auto result = penumbra(words);
    ASSERT_EQ(result.code, 0) << result.out << result.err;
    for (const auto* method : {"TV", "PnP", "RED", "DPS", "PnP-ULA-Ori", "PMC-RED", "PMC-PnP", "APMC-RED", "APMC-PnP"})
      EXPECT_TRUE(contains(read_text(out / "table.md"), fmt::format("| {} |", method))) << method;
    for (const auto* file : {"report.html", "reconstruction.csv", "uncertainty.csv", "images.csv", "run.json"})
      EXPECT_TRUE(fs::exists(out / file)) << file;
    // The second time everything is taken from what was kept.
    const auto again = penumbra(words);
    EXPECT_EQ(again.out, result.out);
  }
}

/// Real networks, a few steps of APMC, and images that a user's clone has: draws of the prior.
TEST(Commands, TheComparisonWithVarNetRunsEveryMethod) {
  const auto out = scratch();
  const auto result = penumbra(
      {"experiment", "varnet", "--quick", "--count", "1", "--chains", "2", "--steps", "6", "--out", out.string()});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  const auto table = read_text(out / "table.md");
  for (const auto* method : {"VarNet-4x", "VarNet-8x", "APMC-RED", "APMC-PnP"})
    EXPECT_TRUE(contains(table, fmt::format("| {} |", method))) << method;
  EXPECT_TRUE(contains(table, "28.51")) << "the paper's figure beside ours";
  for (const auto* file : {"report.html", "kept/mri-8x.VarNet-8x.json", "kept/mri-4x.APMC-PnP.json"})
    EXPECT_TRUE(fs::exists(out / file)) << file;
}

TEST(Commands, TheDemoEndsWithThePathOfItsReport) {
  const auto out = scratch() / "demo";
  const auto result = penumbra({"demo", "--quick", "--out", out.string()});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("report: " + (out / "report.html").string()), std::string::npos) << result.out;
  EXPECT_EQ(nlohmann::json::parse(read_text(out / "summary.json"))["outcome"], "finished");
  if (!io::reads_fits()) GTEST_SKIP() << "the rest is of the black hole, which needs CFITSIO";
  const auto metrics = nlohmann::json::parse(read_text(out / "metrics.json"));
  EXPECT_EQ(metrics["samples"], "aligned, and the truth with them");
  EXPECT_TRUE(metrics["mse"].is_number());  // two short chains are a look only
  EXPECT_EQ(penumbra({"info", (out / "inputs" / "observation.uvfits").string()}).code, 0);
}

TEST(Commands, TheDemoHasABrainToo) {
  const auto out = scratch() / "brain";
  const auto result = penumbra({"demo", "--scene", "brain", "--quick", "--out", out.string()});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto metrics = nlohmann::json::parse(read_text(out / "metrics.json"));
  EXPECT_EQ(metrics["samples"], "as they are");
  EXPECT_GT(metrics["coverage_3sd"].get<double>(), 0.5) << "an SD from two short chains, but not a wrong image";
  // Resumed as another demo than it is, it stays what it is.
  const auto configuration = read_text(out / "demo.yaml");
  const auto other = penumbra({"demo", "--scene", "brain", "--resume", "--out", out.string()});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "the same --scene, --seed and --quick")) << other.err;
  EXPECT_EQ(read_text(out / "demo.yaml"), configuration);
}

TEST(Commands, HelpIsThereForEach) {
  for (const auto* command : {"demo", "sample", "evaluate", "report", "observe", "score", "denoise", "generate",
                              "certify", "info", "experiment", "bench", "train", "assess", "export"}) {
    const auto result = penumbra({command, "--help"});
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_NE(result.out.find("Usage"), std::string::npos) << command;
  }
  const auto says = [](const std::string& command, const std::vector<std::string>& words) {
    const auto help = penumbra({command, "--help"}).out;
    for (const auto& word : words) EXPECT_NE(help.find(word), std::string::npos) << word << " in " << help;
  };
  says("sample", {"docs/configuration.md", "sampler.steps=500"});
  says("train", {"docs/training.md", "training.steps=500"});
  says("assess", {"0.02,0.05,0.1", "=16"});
  says("generate", {"=16"});
  says("info", {"JPEG"});
  EXPECT_EQ(penumbra({"unknown"}).code, 2);
  EXPECT_EQ(penumbra({}).code, 2);
}

}  // namespace
}  // namespace penumbra::test
