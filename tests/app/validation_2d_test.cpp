#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "app/experiments/validation_2d/block_likelihood.h"
#include "app/experiments/validation_2d/closed_form.h"
#include "app/experiments/validation_2d/results.h"
#include "app/experiments/validation_2d/simulation.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "support/paths.h"

namespace penumbra::app::validation_2d {
namespace {

using test::tensor;

nlohmann::json vectors() { return test::vectors("toy2d_problem.json"); }

Configuration configuration_of(const std::string& key, const nlohmann::json& row) {
  return {.discretization = key.starts_with("pnp") ? Discretization::pnp : Discretization::red,
          .gamma = row["gamma"],
          .sigma_min = row["sigma_min"],
          .eps_max = row["eps_max"]};
}

TEST(Validation2d, TheEmbeddedProblemIsTheDocumentedOne) {
  const auto stored = vectors();
  const auto problem = make_problem(20);
  EXPECT_TRUE(problem.A.equal(tensor(stored["A"])));
  EXPECT_TRUE(problem.y.equal(tensor(stored["y"])));
  for (size_t j = 0; j < 2; ++j) {
    const auto& mode = problem.prior->components()[j];
    EXPECT_EQ(mode.weight, stored["prior"]["w"][j].get<double>());
    EXPECT_TRUE(mode.mean.equal(tensor(stored["prior"]["mu"][j])));
    EXPECT_TRUE(mode.covariance->dense().equal(tensor(stored["prior"]["S"][j])));
  }
}

TEST(Validation2d, ThePosteriorsAreTheStoredOnes) {
  const auto stored = vectors()["posterior"];
  const auto problem = make_problem(20);
  for (size_t r = 0; r < 20; ++r) {
    const auto& posterior = problem.posteriors[r];
    EXPECT_LT(test::relative_error(posterior.weights, tensor(stored[r]["w"])), 1e-10);
    EXPECT_LT(test::relative_error(posterior.means, tensor(stored[r]["mu"])), 1e-10);
    EXPECT_LT(test::relative_error(posterior.covariances, tensor(stored[r]["S"])), 1e-10);
  }
}

TEST(Validation2d, TheTableHoldsThePapersFigures) {
  const auto expected = vectors()["expected"];
  for (const auto& [key, row] : expected.items()) {
    const auto wanted = configuration_of(key, row);
    bool found = false;
    for (const auto& column : table_2()) {
      if (column.configuration(wanted.discretization) != wanted) continue;
      found = true;
      EXPECT_EQ(column.paper(wanted.discretization).fi, row["paper_FI"].get<double>()) << key;
      EXPECT_EQ(column.paper(wanted.discretization).kl, row["paper_KL"].get<double>()) << key;
    }
    EXPECT_TRUE(found) << key;
  }
}

TEST(Validation2d, TheClosedFormPredictsTheMeasuredFisherInformation) {
  const auto expected = vectors()["expected"];
  const auto problem = make_problem(20);
  for (const auto& [key, row] : expected.items()) {
    const double measured = row["min_FI"], closed = predict(problem, configuration_of(key, row)).fi;
    EXPECT_NEAR(measured, closed, Tolerance{}.at(closed)) << key;
  }
}

TEST(Validation2d, TheClosedFormPredictsTheKlFromTheModesAndTheirWeights) {
  const auto expected = vectors()["expected"];
  const auto problem = make_problem(20);
  for (const auto& [key, row] : expected.items()) {
    const auto closed = predict(problem, configuration_of(key, row));
    const double in_modes = row["min_KL"].get<double>() - row["KL_of_mode_weights"].get<double>();
    EXPECT_NEAR(in_modes, closed.kl_modes, 0.05 * closed.kl_modes + 0.006) << key;
    EXPECT_NEAR(closed.kl_weights, 0.505, 0.002);
  }
}

TEST(BlockLikelihood, EveryBlockHasItsOwnMatrix) {
  const auto problem = make_problem(3);
  const Shape shape{1, 1, 2};
  const int64_t chains = 4;
  const BlockLikelihood all(shape, problem.A, problem.y, 0.7, chains);
  const auto x = normal({1, 0, 0}, Stream::start, at::empty({3 * chains, 1, 1, 2}, at::kDouble));
  const auto grad = all.grad(x), value = all.value(x);
  for (int64_t r = 0; r < 3; ++r) {
    const GaussianLikelihood one(std::make_shared<DenseModel>(shape, problem.A[r]), problem.y, 0.7);
    const auto part = x.narrow(0, r * chains, chains);
    EXPECT_LT(test::relative_error(grad.narrow(0, r * chains, chains), one.grad(part)), 1e-13);
    EXPECT_LT(test::relative_error(value.narrow(0, r * chains, chains), one.value(part)), 1e-13);
  }
}

TEST(BlockLikelihood, RefusesABatchThatIsNotWholeBlocks) {
  const auto problem = make_problem(3);
  const BlockLikelihood all({1, 1, 2}, problem.A, problem.y, 1, 4);
  EXPECT_ANY_THROW(all.grad(at::zeros({11, 1, 1, 2}, at::kDouble)));
}

TEST(Validation2d, AShortRunEvaluatesWhereItShould) {
  const Effort effort{.posteriors = 2, .chains = 50, .steps = 250, .evaluate_from = 200, .evaluate_every = 25};
  const auto course = simulate(make_problem(2), effort, {}, 3);
  EXPECT_EQ(course.k, (std::vector<int64_t>{200, 225, 250}));
  EXPECT_GT(course.largest, 1e10);
  for (const auto& at : course.at)
    for (const double kl : at.kl) EXPECT_GT(kl, 0);
}

TEST(Validation2d, AChainOutsideTheGridLeavesAGapThatTheLeastValueIgnores) {
  auto samples = normal({1, 0, 0}, Stream::start, at::empty({2, 100, 2}, at::kDouble)) + 10;
  samples[1][7] = 1e20;
  const auto problem = make_problem(2);
  Course course;
  course.k = {1, 2};
  course.at = {distances(samples, problem.posteriors),
               distances(samples[0].unsqueeze(0).expand({2, 100, 2}), problem.posteriors)};
  const auto fi = curve(course, &Distances::fi);
  EXPECT_TRUE(std::isnan(fi.mean[0]));
  EXPECT_EQ(fi.least(), 1u);
}

TEST(WeightDivergence, IsZeroForEqualWeightsAndFiniteForAnEmptyMode) {
  EXPECT_EQ(weight_divergence({0.3, 0.7}, {0.3, 0.7}), 0);
  EXPECT_NEAR(weight_divergence({0, 1}, {0.5, 0.5}), std::log(2.0), 1e-15);
}

}  // namespace
}  // namespace penumbra::app::validation_2d
