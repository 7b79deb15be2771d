#include "theory/divergence.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "support/paths.h"

namespace penumbra::theory {
namespace {

using test::tensor;

nlohmann::json fi_kl_case(const std::string& name) {
  const auto all = test::vectors("fi_kl.json");
  for (const auto& row : all["cases"])
    if (row["name"] == name) return row;
  return {};
}

Mixture single(const GaussianLaw& law) {
  return {at::ones({1}, at::kDouble), law.mean.unsqueeze(0), law.covariance.unsqueeze(0)};
}

void expect_close(double value, double expected, double relative) {
  EXPECT_NEAR(value, expected, relative * std::abs(expected) + 1e-14);
}

class GaussianPair : public testing::TestWithParam<std::string> {
 protected:
  const nlohmann::json row = fi_kl_case(GetParam());
  const GaussianLaw nu{tensor(row["nu_mean"]), tensor(row["nu_cov"])};
  const GaussianLaw pi{tensor(row["pi_mean"]), tensor(row["pi_cov"])};
};

TEST_P(GaussianPair, ClosedForm) {
  const auto closed = gaussian_divergence(nu, pi);
  expect_close(closed.fisher_information, row["FI_closed"], 1e-11);
  expect_close(closed.kl, row["KL_closed"], 1e-11);
}

TEST_P(GaussianPair, GridIsTheStoredGridAndReportsItsMass) {
  const auto grid = grid_divergence(single(nu), single(pi));
  expect_close(grid.fisher_information, row["FI_grid"], 1e-9);
  expect_close(grid.kl, row["KL_grid"], 1e-9);
  expect_close(grid.mass, row["mass_grid"], 1e-9);
}

TEST_P(GaussianPair, GridIsTheClosedFormUnlessNuIsNarrowerThanACell) {
  const auto grid = grid_divergence(single(nu), single(pi));
  if (GetParam() == "subcell_nu") {
    EXPECT_NEAR(grid.mass, 0.79, 0.005);
  } else {
    expect_close(grid.fisher_information, row["FI_closed"], 1e-6);
    expect_close(grid.kl, row["KL_closed"], 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(FiKl, GaussianPair, testing::Values("mild", "equal", "narrow_nu", "offset", "subcell_nu"),
                         [](const auto& info) { return info.param; });

struct Pair {
  Mixture nu, pi;
};

Pair two_modes(const nlohmann::json& row) {
  return {{tensor(row["nu"]["w"]), tensor(row["nu"]["mu"]), tensor(row["nu"]["S"])},
          {tensor(row["pi"]["w"]), tensor(row["pi"]["mu"]), tensor(row["pi"]["S"])}};
}

TEST(GridDivergence, TwoMixturesOnTheStoredGridAndOnAFinerOne) {
  const auto row = fi_kl_case("gmm_vs_gmm");
  const auto [nu, pi] = two_modes(row);
  const auto grid = grid_divergence(nu, pi);
  expect_close(grid.fisher_information, row["FI_grid"], 1e-9);
  expect_close(grid.kl, row["KL_grid"], 1e-9);
  const auto fine = grid_divergence(nu, pi, {.columns = 3000, .rows = 3000});
  expect_close(fine.fisher_information, row["FI_ref_3000"], 1e-9);
  expect_close(fine.kl, row["KL_ref_3000"], 1e-9);
}

TEST(GridDivergence, FisherInformationIsBlindToTheWeightsOfSeparatedModes) {
  const auto row = fi_kl_case("weights_only");
  const auto mu = tensor(row["mu"]), S = tensor(row["S"]);
  const auto grid = grid_divergence({tensor(row["nu_w"]), mu, S}, {tensor(row["pi_w"]), mu, S});
  expect_close(grid.fisher_information, row["FI_grid"], 1e-9);
  expect_close(grid.kl, row["KL_grid"], 1e-9);
  EXPECT_LT(grid.fisher_information, 1e-9);
}

TEST(GridDivergence, TheCutoffChangesNothing) {
  const auto [nu, pi] = two_modes(fi_kl_case("gmm_vs_gmm"));
  const auto cut = grid_divergence(nu, pi), whole = grid_divergence(nu, pi, {.cutoff = 1e6});
  EXPECT_NEAR(cut.fisher_information, whole.fisher_information, 1e-15);
  EXPECT_NEAR(cut.kl, whole.kl, 1e-15);
  EXPECT_NEAR(cut.mass, whole.mass, 1e-14);
}

TEST(GridDivergence, BitsDoNotDependOnTheThreads) {
  const auto [nu, pi] = two_modes(fi_kl_case("gmm_vs_gmm"));
  const auto many = grid_divergence(nu, pi);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = grid_divergence(nu, pi);
  at::set_num_threads(threads);
  EXPECT_EQ(one.kl, many.kl);
  EXPECT_EQ(one.fisher_information, many.fisher_information);
}

TEST(GridDivergence, AMassOutsideTheRectangleIsMissing) {
  const auto [nu, pi] = two_modes(fi_kl_case("gmm_vs_gmm"));
  const auto half = grid_divergence(nu, pi, {.x_high = 0, .columns = 500});
  EXPECT_NEAR(half.mass, 0.4, 1e-4);
}

}  // namespace
}  // namespace penumbra::theory
