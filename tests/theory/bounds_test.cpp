#include "theory/bounds.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/quadrature.h"
#include "support/paths.h"
#include "theory/law_average.h"
#include "theory/vectors.h"

namespace penumbra::theory {
namespace {

using test::tensor;

class BoundVectors : public testing::TestWithParam<int> {
 protected:
  const nlohmann::json all = test::vectors("bounds.json");
  const nlohmann::json row = all["cases"][GetParam()];
  const LinearGaussian problem{problem_of(all)};
  const GaussianLaw start{tensor(all["m0"]), tensor(all["C0"])};
  const double gamma = row["gamma"], eps = row["eps"];
  const int64_t N = row["N"];

  LawStep step_at(int64_t k) const {
    LawStep step{.gamma = gamma,
                 .annealing = {row["sigma_min"], 1},
                 .discretization = discretization_of(row["alg"].get<std::string>()),
                 .score_bias = at::tensor({0.6 * eps, 0.8 * eps}, at::kDouble)};
    if (!row["annealed"].get<bool>()) return step;
    auto schedule = all["annealing"];
    schedule["sigma_min"] = row["sigma_min"];
    return annealed_step(schedule, step, k);
  }

  BoundInputs inputs(const LawAverage& law) const {
    BoundInputs in{.theorem = theorem_of(step_at(0).discretization, row["annealed"].get<bool>()),
                   .n = 2,
                   .gamma = gamma,
                   .L_g = problem.likelihood_lipschitz(),
                   .L_p = problem.score_lipschitz(0),
                   .KL0 = law.KL0,
                   .C = law.C,
                   .R_g = law.R_g,
                   .R_s = law.R_s};
    for (int64_t k = 0; k < N; ++k) {
      const auto annealing = step_at(k).annealing;
      in.iterations.push_back({annealing, problem.score_lipschitz(annealing.sigma), eps});
    }
    return in;
  }
};

TEST_P(BoundVectors, MeasuredAverageAndBoundTermByTerm) {
  const auto law = average_along_law(problem, start, N, [this](int64_t k) { return step_at(k); });
  const auto in = inputs(law);
  const auto expect = [](double value, double expected, double relative) {
    EXPECT_NEAR(value, expected, relative * std::abs(expected));
  };
  EXPECT_EQ(name_of(in.theorem), row["theorem"].get<std::string>());
  expect(law.fisher_information, row["lhs"], 1e-8);
  expect(law.KL0, all["KL0"], 1e-10);
  expect(law.C, row["C"], 1e-6);
  expect(law.R_g, row["Rg"], 1e-6);
  expect(law.R_s, row["Rs"], 1e-6);
  expect(largest_lipschitz(in), row["Lmax"], 1e-10);
  EXPECT_EQ(gamma <= admissible_step(in), row["step_ok"].get<bool>());

  const auto terms = bound(in);
  ASSERT_TRUE(terms.complete());
  expect(*terms.initial + *terms.annealing, row["rhs_terms"][0], 1e-6);
  expect(*terms.discretisation, row["rhs_terms"][1], 1e-6);
  expect(*terms.mismatch, row["rhs_terms"][2], 1e-6);
  expect(*terms.approximation, row["rhs_terms"][3], 1e-6);
  expect(terms.sum(), row["rhs"], 1e-6);
  EXPECT_LE(law.fisher_information, terms.sum());
}

INSTANTIATE_TEST_SUITE_P(All, BoundVectors, testing::Range(0, 28));

BoundInputs example(Theorem theorem) {
  return {.theorem = theorem,
          .n = 4,
          .gamma = 0.01,
          .L_g = 3,
          .L_p = 2,
          .iterations = {{{2, 4}, 0.9, 0}, {{0.5, 1}, 1.5, 0}}};
}

TEST(Bounds, AtTheAdmissibleStepTheConditionIsAnEquality) {
  for (const auto theorem : {Theorem::t1, Theorem::t2, Theorem::t3, Theorem::t4}) {
    auto in = example(theorem);
    in.gamma = admissible_step(in);
    EXPECT_NEAR(in.gamma * largest_lipschitz(in), 1 / std::sqrt(32.0), 1e-14) << name_of(theorem);
  }
}

TEST(Bounds, TheQuadraticOfPnpReducesToRedWithoutData) {
  auto red = example(Theorem::t1), pnp = example(Theorem::t2);
  red.L_g = pnp.L_g = 0;
  EXPECT_NEAR(admissible_step(pnp), admissible_step(red), 1e-15);
}

TEST(Bounds, StabilityLimitOfAnnealingAndOfTheEnd) {
  EXPECT_DOUBLE_EQ(stability_limit(example(Theorem::t3)), 2 / 6.6);
  EXPECT_DOUBLE_EQ(stability_limit(example(Theorem::t3), 1), 2 / 4.5);
  EXPECT_DOUBLE_EQ(stability_limit(example(Theorem::t4)), 2 / 3.6);
}

TEST(Bounds, AnUnknownConstantLeavesItsTermOut) {
  auto in = example(Theorem::t4);
  in.KL0 = 5;
  in.R_s = 1;
  in.C = 1;
  in.R_g = 1;
  EXPECT_TRUE(bound(in).complete());
  in.iterations[1].eps.reset();
  EXPECT_FALSE(bound(in).complete());
  EXPECT_FALSE(bound(in).approximation.has_value());
  EXPECT_GT(bound(in).sum(), *bound(in).initial);
}

TEST(Quadrature, GaussLegendreIsExactForPolynomials) {
  for (int count = 1; count <= 8; ++count)
    for (int degree = 0; degree < 2 * count; ++degree) {
      double integral = 0;
      for (const auto& [x, w] : gauss_legendre(count)) integral += w * std::pow(x, degree);
      EXPECT_NEAR(integral, 1.0 / (degree + 1), 1e-14);
    }
}

}  // namespace
}  // namespace penumbra::theory
