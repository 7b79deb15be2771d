/// Our network and samplers against outputs of the paper's official code (../shared/golden).
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "models/mri.h"
#include "priors/score.h"
#include "samplers/pmc.h"
#include "support/devices.h"
#include "support/npz.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::relative_distance;

constexpr double tolerance = 1e-4;

std::shared_ptr<const Score> official(const std::string& weights, const std::string& arch,
                                      at::DeviceType device = at::kCPU) {
  auto settings = Settings::from_text(
      fmt::format("{{kind: network, file: {}, arch: {}, compute: float32}}", weights, arch), "test");
  auto prior = make_prior(settings, {at::kFloat, device});
  settings.finish();
  return prior;
}

struct OfficialNetwork : testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(OfficialNetwork, ScoreIsThatOfTheOfficialCode) {
  const auto [name, file] = GetParam();
  const auto golden = test::shared("golden/" + name + ".npz");
  if (!golden) GTEST_SKIP() << "no ../shared/golden here";
  const auto prior =
      official(test::shared("golden/" + file)->string(), test::shared("golden/" + name + ".json")->string());
  const auto arrays = test::read_npz(*golden);
  const auto &x = arrays.at("x"), &sigma = arrays.at("sigma"), &score = arrays.at("score");
  for (int64_t i = 0; i < x.size(0); ++i) {
    const double level = sigma[i].item<double>();
    const auto ours = prior->score(x.narrow(0, i, 1), level);
    EXPECT_LT(relative_distance(ours[0], score[i]), tolerance) << "sigma " << level;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, OfficialNetwork,
                         testing::Values(std::pair{"unet_a", "unet_a.pth"}, std::pair{"unet_b", "unet_b.ckpt"}),
                         [](const auto& info) { return info.param.first; });

struct OfficialSteps : testing::TestWithParam<at::DeviceType> {
  void SetUp() override {
    const auto golden = test::shared("golden/pmc_steps.npz");
    if (!golden) GTEST_SKIP() << "no ../shared/golden here";
    arrays = test::read_npz(*golden);
    for (auto& [name, array] : arrays) array = array.to(GetParam());
    prior =
        official(test::shared("golden/unet_a.pth")->string(), test::shared("golden/unet_a.json")->string(), GetParam());
  }
  double number(const std::string& name) { return arrays.at(name).item<double>(); }
  std::map<std::string, Tensor> arrays;
  std::shared_ptr<const Score> prior;
  const double beta = std::sqrt(1e-4);
};

TEST_P(OfficialSteps, DriftsOfPmcOnMri) {
  c10::NoGradGuard no_gradients;
  MriOptions options;
  options.mask = arrays.at("mask").flatten().view({32, 32}).ne(0);
  const auto A = std::make_shared<MriModel>(Shape{1, 32, 32}, options, Placement{at::kFloat, GetParam()});
  const auto g =
      std::make_shared<GaussianLikelihood>(A, A->from_grid(arrays.at("y").flatten().view({1, 32, 32})), beta);
  const auto x = arrays.at("x");
  EXPECT_LT(relative_distance(g->grad(x), arrays.at("grad")), tolerance);
  const GeometricSchedule::Options annealing{number("sigma0"), number("sigma_min"), number("xi"), number("alpha0")};
  const double gamma = number("gamma");
  constexpr uint64_t seed = 3;
  for (const auto& [name, discretization] : {std::pair{"pnp", Discretization::pnp}, {"red", Discretization::red}}) {
    const AnnealedPmc sampler({g, prior}, seed,
                              {discretization, gamma, std::make_shared<GeometricSchedule>(annealing)});
    for (const int64_t t : {0, 100, 500, 2000}) {
      ChainState state{x, t, 0};
      sampler.step(state);
      // What is left of a step without its noise, in float64: the drift is small beside it.
      const auto noise = std::sqrt(2 * gamma) * normal({seed, 0, t}, Stream::langevin, x).to(at::kDouble);
      const auto drift = state.x.to(at::kDouble) - x.to(at::kDouble) - noise;
      EXPECT_LT(relative_distance(drift, arrays.at(fmt::format("{}_drift_{}", name, t))), tolerance)
          << name << " at " << t;
    }
  }
}

TEST_P(OfficialSteps, GradientOfCompressedSensing) {
  const auto A = std::make_shared<DenseModel>(Shape{1, 32, 32}, arrays.at("cs_A"));
  const GaussianLikelihood g(A, arrays.at("cs_y").reshape({-1}), beta);
  EXPECT_LT(relative_distance(g.grad(arrays.at("x")), arrays.at("cs_grad")), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Golden, OfficialSteps, testing::ValuesIn(test::devices()),
                         [](const auto& info) { return test::name_of(info.param); });

}  // namespace
}  // namespace penumbra
