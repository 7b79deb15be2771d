#include "diagnostics/drift.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "diagnostics/chains.h"

namespace penumbra::diagnostics {
namespace {

using test::autoregressive;
using test::independent;
using test::number;

// t with c - 1 degrees of freedom has variance (c - 1) / (c - 3), here 19 / 17, however correlated the records.
TEST(Drift, IsStudentsTForStationaryChains) {
  for (const double rho : {0.0, 0.99}) {
    const auto t = drift(autoregressive(rho, {6, 20, 20000}));
    // Fourth moment 3 d^2 / ((d - 2) (d - 4)) with d = 19: the mean of t^2 has SD 1.84 / sqrt(pixels).
    EXPECT_NEAR(number(t.square().mean()), 19.0 / 17, 5 * 1.84 / std::sqrt(20000.0)) << rho;
  }
}

TEST(Drift, SeesAnEnsembleThatStillMoves) {
  // One SD between the halves: t is about 1 / (sqrt(2/2) / sqrt(100)) = 10.
  const auto draws = independent({4, 100, 200});
  const auto moving = at::cat({draws.narrow(0, 0, 2), draws.narrow(0, 2, 2) + 1});
  EXPECT_NEAR(number(drift(moving).mean()), 10, 5 * 1.3 / std::sqrt(200.0));
}

// Pixels that all move together: a p-value that took them for independent would be 0 or 1.
TEST(EnsembleDrift, HasAUniformPValueWhateverThePixelsShare) {
  int below_a_tenth = 0, below_a_half = 0;
  const int runs = 400;
  for (int run = 0; run < runs; ++run) {
    const auto common = autoregressive(0.9, {6, 20, 1}, 100 + run).expand({6, 20, 30});
    const auto p = ensemble_drift(common + 0.1 * independent({6, 20, 30}, 1000 + run)).p;
    below_a_tenth += p <= 0.1;
    below_a_half += p <= 0.5;
  }
  // Five binomial standard errors.
  EXPECT_NEAR(below_a_tenth, 0.1 * runs, 5 * std::sqrt(0.09 * runs));
  EXPECT_NEAR(below_a_half, 0.5 * runs, 5 * std::sqrt(0.25 * runs));
}

// Chains (0, 1) and (0, 3): changes 1 and 3, mean 2 with squared error 1; the draws 0, 0, 1, 3 have variance 2.
TEST(EnsembleDrift, EqualsTheFormulaByHand) {
  const auto draws = at::tensor({0.0, 0.0, 1.0, 3.0}, at::kDouble).reshape({2, 2, 1});
  EXPECT_NEAR(ensemble_drift(draws).size, std::sqrt((4.0 - 1.0) / 2), 1e-14);
  EXPECT_NEAR(number(drift(draws)), 2, 1e-14);
}

TEST(EnsembleDrift, MeasuresTheMotionInStandardDeviations) {
  const auto draws = independent({4, 400, 200});
  const auto moving = at::cat({draws.narrow(0, 0, 2), draws.narrow(0, 2, 2) + 0.5});
  const auto found = ensemble_drift(moving);
  // The shift of 0.5 adds 0.0625 to the variance over all draws.
  EXPECT_NEAR(found.size, 0.5 / std::sqrt(1.0625), 0.02);
  EXPECT_LE(found.p, 0.005 + 1e-12);
  EXPECT_LT(ensemble_drift(draws).size, 0.02);
}

TEST(EnsembleDrift, IsNothingForConstantPixels) {
  const auto found = ensemble_drift(at::full({6, 4, 3}, 0.1, at::kDouble));
  EXPECT_EQ(found.size, 0);
  EXPECT_EQ(found.p, 1);
}

TEST(EnsembleDrift, LeavesOutBrokenPixels) {
  auto draws = independent({6, 20, 5});
  const auto sound = ensemble_drift(draws.narrow(2, 1, 4));
  draws[2][3][0] = std::nan("");
  EXPECT_EQ(ensemble_drift(draws).p, sound.p);
  EXPECT_EQ(ensemble_drift(draws).size, sound.size);
}

TEST(Drift, OfConstantPixelsIsZero) {
  EXPECT_TRUE((drift(at::full({10, 4, 3}, 0.1, at::kDouble)) == 0).all().item<bool>());
}

TEST(Drift, RefusesTooFewDraws) {
  EXPECT_THROW(drift(at::zeros({1, 4, 1})), InputError);
  EXPECT_THROW(drift(at::zeros({4, 1, 1})), InputError);
  EXPECT_THROW(ensemble_drift(at::zeros({1, 4, 1})), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
