#include <torch/script.h>

#include "priors/contract.h"
#include "priors/gaussian_mixture.h"
#include "support/numbers.h"
#include "support/program.h"
#include "theory/lipschitz.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::in_double;
using test::message_of;

/// A TorchScript file whose forward has this body; N(0.5, 0.25) has the score below.
fs::path module_file(const std::string& body) {
  torch::jit::Module module("m");
  module.define("def forward(self, x, s):\n" + body);
  const auto path = test::scratch() / "net.pt";
  module.save(path.string());
  return path;
}
const std::string gaussian_score = "  v = 0.25 + (s * s).reshape([-1, 1, 1, 1])\n  return (0.5 - x) / v\n";
const std::string gaussian_denoiser =
    "  t = (s * s).reshape([-1, 1, 1, 1])\n  return (0.25 * x + 0.5 * t) / (0.25 + t)\n";

std::shared_ptr<const Score> load_module(const fs::path& file, const std::string& more,
                                         const std::string& range = "sigma_low: 0.01, sigma_high: 50") {
  return make_prior(Settings::from_text(fmt::format("{{kind: torchscript, file: {}, image_shape: [1, 2, 3], {}, {}}}",
                                                    file.string(), range, more),
                                        "prior.yaml"),
                    in_double);
}

Tensor module_images() { return test::numbers(9, {4, 1, 2, 3}); }

GaussianMixture module_gaussian() {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  return GaussianMixture({1, 2, 3},
                         {{1, at::full({6}, 0.5, options), Covariance::diagonal(at::full({6}, 0.25, options))}});
}

void expect_the_gaussian(const Score& prior) {
  const auto exact = module_gaussian();
  const auto x = module_images();
  // The network computes in float32; a score from a denoiser is its difference from x over sigma^2.
  for (const double sigma : {0.1, 1.0, 20.0}) {
    EXPECT_LT(test::relative_error(prior.score(x, sigma), exact.score(x, sigma)), 1e-4) << sigma;
    EXPECT_LT(test::relative_error(prior.denoise(x, sigma), exact.denoise(x, sigma)), 1e-5) << sigma;
  }
}

TEST(TorchScript, ScoreAndDenoiserModulesGiveTheGaussian) {
  expect_the_gaussian(*load_module(module_file(gaussian_score), "output: score, allow_code: true"));
  expect_the_gaussian(*load_module(module_file(gaussian_denoiser), "output: denoiser, allow_code: true"));
}

TEST(TorchScript, TheModuleMayTakeTheLogarithmOfSigma) {
  expect_the_gaussian(*load_module(module_file("  s = s.exp()\n" + gaussian_denoiser),
                                   "output: denoiser, sigma_input: log_sigma, allow_code: true"));
}

TEST(TorchScript, ItsLipschitzConstantIsMeasuredThroughTheModule) {
  const double sigma = 0.3, exact = 1 / (0.25 + sigma * sigma);
  for (const auto& [body, output] : {std::pair{gaussian_score, "score"}, std::pair{gaussian_denoiser, "denoiser"}}) {
    const auto prior = load_module(module_file(body), fmt::format("output: {}, allow_code: true", output));
    // More than once: TorchScript runs another, optimised program from the third call on.
    for (int call = 0; call < 4; ++call) {
      const auto L = theory::score_lipschitz(*prior, module_images(), sigma, {});
      EXPECT_NEAR(L.value, exact, 1e-4 * exact) << output << " " << theory::name_of(L.method);
    }
  }
}

TEST(TorchScript, KeepsThePriorContract) {
  const auto prior =
      load_module(module_file(gaussian_denoiser), "output: denoiser, pixel_range: [-1, 1], allow_code: true");
  // (D - x) / sigma^2 at sigma = 0.05 magnifies the rounding of float32 by 400.
  test::expect_prior_contract(*prior, 1e-5);
  EXPECT_EQ(prior->pixel_range(), (std::pair{-1.0, 1.0}));
  EXPECT_EQ(prior->sigma_range().low, 0.01);
  EXPECT_EQ(prior->sigma_range().high, 50);
  EXPECT_FALSE(prior->draw(1, {}));
  EXPECT_TRUE(contains(message_of([&] { prior->score(module_images(), 51); }), "sigma = 51"));
}

TEST(TorchScript, OutsideItsRangeItCanBeClamped) {
  const auto file = module_file(gaussian_score);
  const auto strict = load_module(file, "output: score, allow_code: true");
  const auto clamped = load_module(file, "output: score, allow_code: true, out_of_range: clamp");
  EXPECT_TRUE(clamped->score(module_images(), 100).equal(strict->score(module_images(), 50)));
}

TEST(TorchScript, IsNotRunWithoutLeave) {
  const auto file = module_file(gaussian_score);
  for (const auto* flag : {"", "allow_code: false"}) {
    const auto message = message_of([&] { load_module(file, fmt::format("output: score, {}", flag)); });
    EXPECT_TRUE(contains(message, "allow_code")) << message;
    EXPECT_TRUE(contains(message, "program")) << message;
  }
}

TEST(TorchScript, RefusesATruncatedFileAndWhatIsNone) {
  const auto file = module_file(gaussian_score);
  const auto whole = test::read_text(file);
  for (const auto size : {size_t{0}, size_t{10}, whole.size() / 2, whole.size() - 1}) {
    test::write_text(file, whole.substr(0, size));
    const auto message = message_of([&] { load_module(file, "output: score, allow_code: true"); });
    EXPECT_TRUE(contains(message, file.string() + ": expected a TorchScript file: ")) << message;
    EXPECT_FALSE(contains(message, "\n")) << message;
  }
  EXPECT_TRUE(contains(message_of([&] { load_module("gone.pt", "output: score, allow_code: true"); }), "gone.pt"));
}

TEST(TorchScript, AModuleThatFailsIsNamedInOneLine) {
  const auto message_for = [](const std::string& body) {
    const auto file = module_file(body);
    const auto prior = load_module(file, "output: score, allow_code: true");
    const auto message = message_of([&] { prior->score(module_images(), 1); });
    EXPECT_TRUE(message.starts_with(file.string() + ": ")) << message;
    EXPECT_FALSE(contains(message, "\n")) << message;
    return message;
  };
  EXPECT_TRUE(contains(message_for("  assert False, 'the roof'\n"), "the roof"));
  EXPECT_TRUE(contains(message_for("  return x.reshape([7, 7])\n"), "shape"));
  EXPECT_TRUE(contains(message_for("  return x[:, :, :1]\n"), "expected 4x1x2x3"));
  EXPECT_TRUE(contains(message_for("  return x > 0\n"), "Bool"));
  EXPECT_TRUE(contains(message_for("  return (x, s)\n"), "Tuple"));
}

TEST(TorchScript, AModuleOfOtherArgumentsIsRefused) {
  torch::jit::Module module("m");
  module.define("def forward(self, x):\n  return x\n");
  const auto path = test::scratch() / "net.pt";
  module.save(path.string());
  const auto prior = load_module(path, "output: score, allow_code: true");
  const auto message = message_of([&] { prior->score(module_images(), 1); });
  EXPECT_TRUE(contains(message, "argument")) << message;

  torch::jit::Module other("m");
  other.define("def denoise(self, x, s):\n  return x\n");
  other.save(path.string());
  EXPECT_TRUE(contains(message_of([&] { load_module(path, "output: score, allow_code: true"); }), "forward"));
}

TEST(TorchScript, RefusesAWrongRange) {
  const auto file = module_file(gaussian_score);
  const std::string allowed = "output: score, allow_code: true";
  EXPECT_TRUE(contains(message_of([&] { load_module(file, allowed, "sigma_low: 0.1"); }), "sigma_high"));
  EXPECT_TRUE(contains(message_of([&] { load_module(file, allowed, "sigma_low: 0, sigma_high: 1"); }), "sigma_low"));
  EXPECT_TRUE(contains(message_of([&] { load_module(file, allowed, "sigma_low: 2, sigma_high: 1"); }), "sigma_high"));
  EXPECT_TRUE(contains(message_of([&] { load_module(file, allowed + ", pixel_range: [1, -1]"); }), "pixel_range"));
  EXPECT_TRUE(contains(message_of([&] { load_module(file, "allow_code: true"); }), "output"));
}

TEST(TorchScript, GenerateDrawsFromItWithinItsRange) {
  const auto file = module_file(gaussian_denoiser);
  const auto out = file.parent_path() / "out";
  test::write_text(file.parent_path() / "prior.yaml",
                   "{kind: torchscript, file: net.pt, output: denoiser, image_shape: [1, 2, 3], sigma_low: 0.01, "
                   "sigma_high: 50, pixel_range: [-1, 2], allow_code: true}");
  const auto result = test::penumbra({"generate", "--prior", (file.parent_path() / "prior.yaml").string(), "--count",
                                      "200", "--out", out.string(), "--device", "cpu"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "--sigma-max is 50, not 80")) << result.err;
  EXPECT_TRUE(contains(result.err, "--sigma-min is 0.01, not 0.002")) << result.err;
  const auto refused = test::penumbra({"generate", "--prior", (file.parent_path() / "prior.yaml").string(), "--out",
                                       out.string(), "--sigma-max", "60"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--sigma-max")) << refused.err;
}

TEST(TorchScript, ARunOutsideTheRangeIsRefusedOrReported) {
  const auto folder = module_file(gaussian_denoiser).parent_path();
  test::write_text(folder / "config.yaml", R"(
prior: {kind: torchscript, file: net.pt, output: denoiser, image_shape: [1, 2, 3], sigma_low: 0.01, sigma_high: 0.5,
        allow_code: true}
likelihood: {kind: none}
sampler: {kind: apmc-pnp, steps: 30, step_size: 1e-3, schedule: {sigma_0: 1, sigma_min: 0.1, xi: 0.9, alpha_0: 1}}
chains: 4
)");
  const auto config = (folder / "config.yaml").string();
  const auto refused = test::penumbra({"sample", config, "--out", (folder / "a").string()});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "prior.out_of_range: clamp")) << refused.err;

  const auto result =
      test::penumbra({"sample", config, "--out", (folder / "b").string(), "--set", "prior.out_of_range=clamp"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "warning")) << result.err;
  const auto summary = nlohmann::json::parse(test::read_text(folder / "b" / "summary.json"));
  // 0.9^k > 0.5 for k = 0 to 6.
  EXPECT_EQ(summary["diagnostics"]["clamped_sigma"]["count"].get<int>(), 7) << summary["diagnostics"];
  EXPECT_TRUE(contains(result.out, "prior.out_of_range: clamp")) << result.out;
}

}  // namespace
}  // namespace penumbra
