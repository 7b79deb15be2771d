/// The two modes of an interferometric posterior whose source may be turned by 180 degrees.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "likelihoods/interferometry.h"
#include "support/minimise.h"
#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/bimodal.h"
#include "vlbi/golden.h"

namespace penumbra {
namespace {

constexpr double pixel = 160.0 / 64;  // uas

/// The closures as the golden file lists them, with the rows of `vis`.
vlbi::Closures golden_closures(const test::Arrays& arrays) {
  vlbi::Closures closures;
  const auto phases = arrays.at("cp").contiguous(), amplitudes = arrays.at("la").contiguous();
  for (int64_t i = 0; i < phases.size(0); ++i) {
    // time, a, b, c, (row, conjugated) of three legs, value, sd
    const auto* row = phases.data_ptr<double>() + i * phases.size(1);
    vlbi::ClosurePhase phase;
    for (size_t leg = 0; leg < 3; ++leg) {
      phase.rows[leg] = static_cast<int64_t>(row[4 + 2 * leg]);
      phase.signs[leg] = row[5 + 2 * leg] != 0 ? -1 : 1;
    }
    phase.value = row[10];
    phase.sd = row[11];
    closures.phases.push_back(phase);
  }
  for (int64_t i = 0; i < amplitudes.size(0); ++i) {
    // time, a, b, c, d, rows of 12, 34, 14, 23, value, sd
    const auto* row = amplitudes.data_ptr<double>() + i * amplitudes.size(1);
    vlbi::LogClosureAmplitude amplitude;
    for (size_t leg = 0; leg < 4; ++leg) amplitude.rows[leg] = static_cast<int64_t>(row[5 + leg]);
    amplitude.signs = {1, 1, -1, -1};
    amplitude.value = row[9];
    amplitude.sd = row[10];
    closures.amplitudes.push_back(amplitude);
  }
  return closures;
}

struct Bimodal : testing::Test {
  test::Arrays arrays;
  test::BimodalPrior prior;

  void SetUp() override {
    const auto path = test::shared("interferometry/golden/bimodal_open.npz");
    if (!path) GTEST_SKIP() << "no ../shared/interferometry";
    arrays = test::read_npz(*path);
    prior = test::bimodal_prior(arrays.at("prior_mean"), pixel);
  }
  InterferometryLikelihood likelihood(bool phases) const {
    InterferometryOptions options{.grid = {64, 64, pixel * vlbi::microarcsecond, vlbi::Pulse::triangle}};
    options.closure_phase = phases;
    options.log_closure_amplitude = 1;
    options.flux = {1, 2, 0.05};
    return {{1, 64, 64}, test::observation_in(arrays, ""), golden_closures(arrays), options, {}};
  }
};

TEST_F(Bimodal, ThePriorIsTheGoldenOne) { EXPECT_EQ(prior.factor.size(1), 620); }

/// The golden optima, evaluated: E to the digits that the prior's factor leaves.
TEST_F(Bimodal, EnergiesOfTheGoldenModes) {
  const auto both = likelihood(true);
  const auto variances = prior.factor.square().sum(0);
  const auto energy = [&](const std::string& name, const Tensor& mean) {
    const auto x = arrays.at(name).flatten();
    const auto xi = prior.factor.t().matmul(x - mean) / variances;
    EXPECT_LT((mean + prior.factor.matmul(xi) - x).abs().max().item<double>(), 1e-6 * x.max().item<double>());
    return 0.5 * (xi.square() * variances).sum().item<double>() + both.value(x.view({1, 1, 64, 64})).item<double>();
  };
  (void)energy;
  const auto x = at::stack({arrays.at("cp_la_mode1"), arrays.at("cp_la_mode2")}).unsqueeze(1);
  const auto misfit = both.misfit(x);
  const std::vector<std::vector<double>> expected{{0.9192770250271531, 0.9035235142694962},
                                                  {0.7974390967849814, 0.7954136701527816}};
  for (size_t term = 0; term < 2; ++term)
    EXPECT_LT(test::relative_error(misfit[term].chi2, at::tensor(expected[term], at::kDouble)), 1e-6);
  const auto p = prior.projection(x);
  EXPECT_NEAR(p[0].item<double>(), 1.0076798676992855, 1e-6);
  EXPECT_NEAR(p[1].item<double>(), -0.7951483723890391, 1e-6);
}

/// T2: from m and from R m the optimum of 1/2 |xi|^2 + g(mean + F xi).
TEST_F(Bimodal, OptimaFromBothMeans) {
  const auto both = likelihood(true);
  const auto means = at::stack({prior.mean, prior.turned});
  const auto image = [&](const Tensor& xi) {
    return (means + xi.matmul(prior.factor.t())).view({-1, 1, 64, 64});
  };
  int evaluations = 0;
  const auto xi = test::minimise(
      [&](const Tensor& xi) {
        ++evaluations;
        const auto x = image(xi);
        return std::pair(0.5 * xi.square().sum(1) + both.value(x), xi + flat(both.grad(x)).matmul(prior.factor));
      },
      at::zeros({2, prior.factor.size(1)}, at::kDouble), 1500, 0.05);
  const auto x = image(xi);
  const auto energy = 0.5 * xi.square().sum(1) + both.value(x);
  RecordProperty("evaluations", evaluations);
  EXPECT_NEAR(energy[0].item<double>(), 428.899, 0.1);
  EXPECT_NEAR(energy[1].item<double>(), 448.375, 0.1);
  const auto p = prior.projection(x);
  EXPECT_NEAR(p[0].item<double>(), 1.01, 0.01);
  EXPECT_NEAR(p[1].item<double>(), -0.80, 0.01);
  printf("evaluations %d E %.4f %.4f p %.4f %.4f\n", evaluations, energy[0].item<double>(), energy[1].item<double>(), p[0].item<double>(), p[1].item<double>());
}

}  // namespace
}  // namespace penumbra
