/// `penumbra sample` and `penumbra modes` on a prior with two modes of known weight.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Two clouds of four pixels at -3 and 3 with weights 0.8 and 0.2, far apart: chains stay where they start.
fs::path two_modes() {
  const auto config = test::scratch() / "config.yaml";
  test::write_text(config, R"(
prior:
  kind: gaussian_mixture
  image_shape: [1, 2, 2]
  components:
    - {weight: 0.8, mean: [-3, -3, -3, -3], variance: 0.25}
    - {weight: 0.2, mean: [3, 3, 3, 3], variance: 0.25}
likelihood: {kind: none}
sampler: {kind: pmc-red, steps: 300, step_size: 0.02, sigma: 0.05, precision: float64, start: {low: -3, high: 3}}
chains: 60
modes: {}
)");
  return config;
}

double mean_of(const fs::path& file) { return io::read_npy(file).to(at::kDouble).mean().item<double>(); }
json summary_of(const fs::path& run) { return json::parse(test::read_text(run / "summary.json")); }

TEST(ModeWeightsCli, ARunIsWeightedByTheOddsAndCountsAreThereOnRequest) {
  const auto config = two_modes();
  const auto run = config.parent_path() / "run";
  const auto sampled = test::penumbra({"sample", config.string(), "--out", run.string()});
  ASSERT_EQ(sampled.code, 0) << sampled.err;
  const auto summary = summary_of(run);
  ASSERT_EQ(summary["modes"]["modes"].size(), 2u) << summary["modes"].dump(1);
  EXPECT_EQ(summary["modes"]["weights"]["by"].get<std::string>(), "odds");
  EXPECT_NEAR(summary["modes"]["modes"][0]["weight"].get<double>(), 0.8, 0.01);
  EXPECT_EQ(summary["statistics"]["weights"].get<std::string>(), "odds");
  // Weighted, the mean is 0.8 x -3 + 0.2 x 3; chains' means are known to 0.5 / sqrt(60) = 0.06 a pixel or better.
  EXPECT_NEAR(mean_of(run / "mean.npy"), -1.8, 0.2);
  const double share = summary["modes"]["weights"]["shares"][0].get<double>();
  EXPECT_NEAR(mean_of(run / "unweighted" / "mean.npy"), 3 - 6 * share, 0.2);
  EXPECT_NEAR(mean_of(run / "sd.npy"), std::sqrt(0.25 + 36 * 0.16), 0.15);
  const auto quantiles = io::read_npy(run / "quantiles.npy");
  EXPECT_LT(quantiles[2].max().item<double>(), -2) << "the median lies in the heavy mode";

  const auto again = test::penumbra({"modes", run.string(), "--set", "modes.weights=counts"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(summary_of(run)["modes"]["weights"]["by"].get<std::string>(), "counts");
  EXPECT_NE(again.out.find("by their numbers"), std::string::npos) << again.out;
  const auto odds = test::penumbra({"modes", run.string(), "--set", "modes.odds_samples=10"});
  ASSERT_EQ(odds.code, 0) << odds.err;
  EXPECT_LE(summary_of(run)["modes"]["weights"]["pairs"][0]["works"].get<int>(), 20);
}

TEST(ModeWeightsCli, AWrongWordIsNamed) {
  const auto config = two_modes();
  const auto result = test::penumbra(
      {"sample", config.string(), "--out", (config.parent_path() / "r").string(), "--set", "modes.weights=guess"});
  EXPECT_NE(result.code, 0);
  EXPECT_NE(result.err.find("modes.weights"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace penumbra
