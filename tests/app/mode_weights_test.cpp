/// Weights of modes in a run's files: odds where they can be trusted, counts where not, and what is said of them.
#include "app/mode_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/run_modes.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "priors/gaussian_mixture.h"
#include "report/run_report.h"
#include "report/synthetic_run.h"
#include "support/paths.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

constexpr int64_t side = 6, n = side * side;

/// Two clouds at -1 and 1, the second with 0.9 of the weight.
std::shared_ptr<const GaussianMixture> prior() {
  const auto C = Covariance::diagonal(at::full({n}, 0.09, at::kDouble));
  return std::make_shared<GaussianMixture>(
      Shape{1, side, side},
      std::vector<Component>{{0.1, at::full({n}, -1, at::kDouble), C}, {0.9, at::full({n}, 1, at::kDouble), C}});
}

class NoData final : public Likelihood {
 public:
  NoData() : Likelihood({1, side, side}) {}
  std::vector<Misfit> misfit(const Tensor&) const override { return {}; }
  Tensor simulate(const Tensor& x, const Cursor&) const override { return x; }

 private:
  Tensor do_value(const Tensor& x) const override { return at::zeros({x.size(0)}, x.options()); }
  Tensor do_grad(const Tensor& x) const override { return at::zeros_like(x); }
};

/// 30 samples of the first cloud, 20 of the second.
Tensor samples() {
  const auto z = 0.3 * normal({1, 0, 0}, Stream::truth, at::empty({50, 1, side, side}, at::kDouble));
  return at::cat({z.narrow(0, 0, 30) - 1, z.narrow(0, 30, 20) + 1});
}

OddsSource source() {
  return {.score = [p = prior()](const Tensor& x) { return p->score(x, 0); }};
}

json modes_of(const std::filesystem::path& folder) { return json::parse(io::read_file(folder / "modes.json")); }

TEST(ModeWeights, AreOddsWhereTheScoreIsAtHand) {
  const auto folder = test::scratch();
  const auto found = write_modes(folder, {}, NoData(), samples(), 0, source());
  const auto modes = modes_of(folder);
  ASSERT_EQ(modes["modes"].size(), 2u);
  // Equal shapes: the works are the log-odds themselves, up to the overlap of clouds 20 SDs apart.
  EXPECT_NEAR(modes["modes"][0]["weight"].get<double>(), 0.9, 1e-3);
  EXPECT_EQ(modes["modes"][0]["samples"], 20) << "the heavier first, though it has fewer samples";
  EXPECT_EQ(modes["weights"]["by"].get<std::string>(), "odds");
  EXPECT_EQ(modes["weights"]["reference"], 2);
  const auto& pair = modes["weights"]["pairs"][0];
  EXPECT_EQ(pair["mode"], 1);
  EXPECT_NEAR(pair["log_odds"].get<double>(), std::log(9.0), 0.01);
  for (const auto* key : {"error", "gap", "effective_samples", "quadrature_error", "closed_loop_rms"})
    EXPECT_TRUE(pair[key].is_number()) << key;
  ASSERT_EQ(found.sample_weights.size(), 50u);
  EXPECT_NEAR(found.sample_weights[0], 0.1 / 30, 1e-4);
  const auto mean = io::read_npy(folder / "modes" / "weighted-mean.npy").to(at::kDouble);
  EXPECT_NEAR(mean.mean().item<double>(), 0.8, 0.05);
  EXPECT_NE(found.verdict.text.find("by the posterior's odds; 0.40, 0.60 of the samples"), std::string::npos)
      << found.verdict.text;
}

TEST(ModeWeights, AreCountsWhereAskedOrWithoutAScore) {
  const auto folder = test::scratch();
  ModesPlan counts;
  counts.odds = false;
  EXPECT_TRUE(write_modes(folder, counts, NoData(), samples(), 0, source()).sample_weights.empty());
  EXPECT_EQ(modes_of(folder)["weights"]["by"].get<std::string>(), "counts");
  EXPECT_NEAR(modes_of(folder)["modes"][0]["weight"].get<double>(), 0.6, 1e-12);
  const auto without = write_modes(folder, {}, NoData(), samples(), 0);
  EXPECT_EQ(without.verdict.level, "note");
  EXPECT_NE(without.verdict.text.find("not at hand"), std::string::npos);
}

TEST(ModeWeights, ThatCannotBeTrustedFallBackToCountsAndSaySo) {
  const auto folder = test::scratch();
  const OddsSource turning{.score = [p = prior()](const Tensor& x) {
    return p->score(x, 0) + 20 * (x.roll({1}, {-1}) - x.roll({-1}, {-1}));
  }};
  const auto found = write_modes(folder, {}, NoData(), samples(), 0, turning);
  EXPECT_TRUE(found.sample_weights.empty());
  EXPECT_EQ(found.verdict.level, "warning");
  EXPECT_NE(found.verdict.text.find("not to be trusted, closed loops"), std::string::npos) << found.verdict.text;
  EXPECT_NEAR(modes_of(folder)["modes"][0]["weight"].get<double>(), 0.6, 1e-12);
  EXPECT_FALSE(std::filesystem::exists(folder / "modes" / "weighted-mean.npy"));
}

TEST(ModeWeights, TheReportShowsThem) {
  const auto run = test::write_synthetic_run({.shape = {1, side, side}, .chains = 50, .evaluated = false});
  io::write_npy(run / "samples.npy", samples().to(at::kFloat));
  auto summary = json::parse(io::read_file(run / "summary.json"));
  summary.update(write_modes(run, {}, NoData(), samples(), 0, source()).summary);
  io::write_file(run / "summary.json", summary.dump());
  report::write_run_report(run);
  const auto page = io::read_file(run / "report.html");
  for (const auto* part : {"How the odds were found", "mode 1 against mode 2", "+2.20 +- 0.0", "Bennett"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

// A Gaussian counts as two with a probability of 0.001 at most, and one mode has no odds to find.
TEST(ModeWeights, AUnimodalPosteriorIsOneModeIn20Of20Seeds) {
  const auto roughness = at::arange(1, n + 1, at::kDouble).pow(-1.0);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto basis = std::get<0>(at::linalg_qr(normal({seed, 0, 1}, Stream::truth, at::empty({n, n}, at::kDouble))));
    const auto z = normal({seed, 0, 0}, Stream::truth, at::empty({100, n}, at::kDouble));
    const auto cloud = (z * roughness).mm(basis).reshape({100, 1, side, side});
    const auto found = diagnostics::find_modes(cloud, {}, {.seed = seed});
    EXPECT_EQ(found.modes.size(), 1u) << seed;
    EXPECT_FALSE(weigh_modes(found, {}, {}, source(), seed).by_odds);
  }
}

TEST(ModeWeights, SettingIsOddsUnlessSamplesAreAligned) {
  const auto odds = [](const std::string& likelihood, const std::string& modes) {
    auto settings = Settings::from_text("likelihood: {" + likelihood + "}\nmodes: {" + modes + "}", "c.yaml");
    auto section = settings.section("likelihood");
    return modes_setting(settings, section, {1, 64, 64})->odds;
  };
  EXPECT_TRUE(odds("kind: none", "most: 3"));
  EXPECT_FALSE(odds("kind: none", "weights: counts"));
  EXPECT_FALSE(odds("kind: interferometry, fov: 128", "most: 3"));
  EXPECT_TRUE(odds("kind: interferometry, fov: 128", "weights: odds"));
  EXPECT_TRUE(odds("kind: interferometry, fov: 128", "align: none"));
  EXPECT_THROW(odds("kind: none", "weights: guess"), InputError);
  EXPECT_THROW(odds("kind: none", "odds_samples: 1"), InputError);
}

}  // namespace
}  // namespace penumbra::app
