/// What every forward model and its Gaussian likelihood promise, run on every registered one: a new model adds no test.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "likelihoods/gaussian.h"
#include "models/adjoint.h"
#include "models/dense.h"
#include "models/forward_model.h"
#include "support/devices.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

struct ContractTest : testing::TestWithParam<std::tuple<const ForwardModelEntry*, at::DeviceType>> {
  static at::DeviceType device() { return std::get<1>(GetParam()); }
  static Tensor random(Shape shape, int64_t chains, int64_t k) {
    shape.insert(shape.begin(), chains);
    return test::numbers(21, shape, k).to(device());
  }
  static std::shared_ptr<const ForwardModel> make(at::ScalarType precision) {
    const auto* entry = std::get<0>(GetParam());
    auto settings = Settings::from_text(entry->example, entry->name);
    std::shared_ptr<const ForwardModel> model = entry->make(settings, {1, 6, 5}, {precision, device()});
    settings.finish();
    return model;
  }
  std::shared_ptr<const ForwardModel> A = make(at::kDouble);
  Tensor x = random(A->image_shape(), 3, 1), r = random(A->data_shape(), 3, 2);
};

TEST_P(ContractTest, ChainsDoNotTouchEachOther) {
  const auto all = A->apply(x);
  for (int64_t c = 0; c < 3; ++c)
    EXPECT_LT(test::relative_error(A->apply(x.narrow(0, c, 1)), all.narrow(0, c, 1)), 1e-13);
}

TEST_P(ContractTest, VjpIsTheTransposeOfTheDerivative) {
  const auto v = random(A->image_shape(), 3, 3);
  const double h = 1e-5;
  const auto Jv = (A->apply(x + h * v) - A->apply(x - h * v)) / (2 * h);
  const auto forward = (Jv * r).flatten(1).sum(1), backward = (v * A->vjp(x, r)).flatten(1).sum(1);
  EXPECT_LT(test::relative_error(backward, forward), 1e-8);
}

TEST_P(ContractTest, AdjointIdentityIfLinear) {
  if (!A->linear()) GTEST_SKIP() << A->name() << " does not claim to be linear";
  EXPECT_LT(test::adjoint_mismatch(*A, x, r), 1e-12);
  EXPECT_LT(test::adjoint_mismatch(*make(at::kFloat), x.to(at::kFloat), r.to(at::kFloat)), 1e-5);
}

TEST_P(ContractTest, IsLinearIfItSaysSo) {
  if (!A->linear()) GTEST_SKIP() << A->name() << " does not claim to be linear";
  const auto other = random(A->image_shape(), 3, 4);
  EXPECT_LT(test::relative_error(A->apply(2 * x - 3 * other), 2 * A->apply(x) - 3 * A->apply(other)), 1e-12);
}

TEST_P(ContractTest, RefusesAWrongShape) {
  EXPECT_THROW(A->apply(x.narrow(2, 0, 5)), InputError);
  EXPECT_THROW(A->vjp(x, r.flatten()), InputError);
}

TEST_P(ContractTest, LikelihoodGradientIsItsFiniteDifference) {
  const GaussianLikelihood g(A, random(A->data_shape(), 1, 5)[0], 0.3);
  const auto v = random(A->image_shape(), 3, 6);
  const double h = 1e-6;
  const auto slope = (g.value(x + h * v) - g.value(x - h * v)) / (2 * h);
  EXPECT_LT(test::relative_error((g.grad(x) * v).flatten(1).sum(1), slope), 1e-7);
}

TEST_P(ContractTest, LipschitzConstantIsTheLargestEigenvalue) {
  if (!A->linear()) GTEST_SKIP() << A->name() << " has no one matrix";
  const GaussianLikelihood g(A, random(A->data_shape(), 1, 5)[0], 0.3);
  const auto matrix = dense_matrix(*A, {at::kDouble, device()});
  const double exact = at::linalg_eigvalsh(matrix.t().matmul(matrix)).max().item<double>() / (0.3 * 0.3);
  EXPECT_NEAR(*g.lipschitz(), exact, 1e-4 * exact);
}

TEST_P(ContractTest, MisfitOfTheTruthIsOne) {
  const GaussianLikelihood noiseless(A, random(A->data_shape(), 1, 5)[0], 0.3);
  const int64_t trials = 400;
  const auto truth = x.narrow(0, 0, 1).expand({trials, 1, 6, 5});
  const auto data = noiseless.simulate(truth, {4, 0, 0});
  double mean = 0;
  int64_t count = 0;
  for (int64_t t = 0; t < trials; ++t) {
    const auto misfit = GaussianLikelihood(A, data[t], 0.3).misfit(truth.narrow(0, 0, 1)).at(0);
    mean += misfit.chi2.item<double>() / static_cast<double>(trials);
    count = misfit.data_count;
  }
  EXPECT_NEAR(mean, 1, 4 * std::sqrt(2.0 / static_cast<double>(count * trials)));
}

std::vector<const ForwardModelEntry*> with_example() {
  auto entries = forward_model_entries();
  std::erase_if(entries, [](const auto* entry) { return entry->example.empty(); });
  return entries;
}

INSTANTIATE_TEST_SUITE_P(EveryModel, ContractTest,
                         testing::Combine(testing::ValuesIn(with_example()), testing::ValuesIn(test::devices())),
                         [](const auto& info) {
                           return std::get<0>(info.param)->name + "_" + test::name_of(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace penumbra
