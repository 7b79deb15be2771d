/// The flow: its inverse, its log-determinant and its gradients against what they are by definition.
#include "networks/realnvp.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/random.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::in_double;
using test::numbers;

struct Flow {
  explicit Flow(int64_t n, int64_t layers = 6) : map({.dimension = n, .layers = layers, .width = 10, .seed = 3}) {}
  RealNvp map;
  Tensor values = map.initial_values(in_double) + 0.1 * numbers(8, {map.parameter_count()}, 1);
};

TEST(RealNvp, StartsAsTheIdentity) {
  const Flow flow(7);
  const auto z = numbers(8, {5, 7}, 2);
  const auto [x, log_det] = flow.map.forward(flow.map.initial_values(in_double), z);
  EXPECT_TRUE(at::equal(x, z));
  EXPECT_TRUE(at::equal(log_det, at::zeros_like(log_det)));
}

TEST(RealNvp, TheInverseUndoesItForEvenAndOddDimensions) {
  for (const int64_t n : {2, 7, 64}) {
    const Flow flow(n);
    const auto z = numbers(8, {20, n}, 2);
    const auto [x, log_det] = flow.map.forward(flow.values, z);
    EXPECT_GT(test::relative_error(x, z), 0.1);
    const auto [back, log_det_back] = flow.map.inverse(flow.values, x);
    // Rounding, enlarged by the scales of six layers.
    EXPECT_LT((back - z).abs().max().item<double>(), 1e-10);
    EXPECT_LT((log_det + log_det_back).abs().max().item<double>(), 1e-10);
  }
}

TEST(RealNvp, TheLogDeterminantIsThatOfTheJacobian) {
  for (const int64_t n : {2, 5}) {
    const Flow flow(n);
    const auto z = numbers(8, {1, n}, 2);
    c10::AutoGradMode gradients(true);
    const auto from = z.clone().requires_grad_();
    const auto [x, log_det] = flow.map.forward(flow.values, from);
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < n; ++i)
      rows.push_back(torch::autograd::grad({x[0][i]}, {from}, {}, /*retain_graph=*/true)[0][0]);
    const auto [sign, log_abs_det] = at::linalg_slogdet(at::stack(rows));
    EXPECT_GT(std::abs(log_abs_det.item<double>()), 0.01);
    EXPECT_NEAR(log_det.item<double>(), log_abs_det.item<double>(), 1e-10);
  }
}

TEST(RealNvp, EveryCoordinateDependsOnEveryOther) {
  const int64_t n = 6;
  const Flow flow(n);
  c10::AutoGradMode gradients(true);
  const auto from = numbers(8, {1, n}, 2).requires_grad_();
  const auto x = flow.map.forward(flow.values, from).x;
  for (int64_t i = 0; i < n; ++i)
    EXPECT_GT(torch::autograd::grad({x[0][i]}, {from}, {}, /*retain_graph=*/true)[0].abs().min().item<double>(), 1e-6);
}

TEST(RealNvp, GradientsOfTheParametersAreThoseOfFiniteDifferences) {
  const Flow flow(5);
  const auto z = numbers(8, {4, 5}, 2), weight = numbers(8, {4, 5}, 3);
  const auto loss = [&](const Tensor& values) {
    const auto [x, log_det] = flow.map.forward(values, z);
    return (x * weight).sum() - log_det.sum();
  };
  c10::AutoGradMode gradients(true);
  const auto values = flow.values.clone().requires_grad_();
  const auto gradient = torch::autograd::grad({loss(values)}, {values})[0];
  c10::NoGradGuard no_gradients;
  for (int64_t k = 0; k < 5; ++k) {
    const auto direction = numbers(8, {flow.map.parameter_count()}, 10 + k);
    const double h = 1e-6;
    const auto slope = (loss(flow.values + h * direction) - loss(flow.values - h * direction)) / (2 * h);
    const double expected = (gradient * direction).sum().item<double>();
    // Central differences: h^2 of the third derivative and 1e-16 / h of rounding.
    EXPECT_NEAR(slope.item<double>(), expected,
                1e-6 * gradient.norm().item<double>() * direction.norm().item<double>());
  }
}

TEST(RealNvp, OneSeedMakesOneFlow) {
  const RealNvpOptions options{.dimension = 9, .layers = 3, .width = 4, .seed = 5};
  const RealNvp one(options), same(options);
  auto changed = options;
  changed.seed = 6;
  const RealNvp other(changed);
  EXPECT_TRUE(at::equal(one.initial_values(in_double), same.initial_values(in_double)));
  const auto values = one.initial_values(in_double) + 0.3 * numbers(8, {one.parameter_count()}, 1),
             z = numbers(8, {3, 9}, 2);
  EXPECT_TRUE(at::equal(one.forward(values, z).x, same.forward(values, z).x));
  EXPECT_GT(test::relative_error(other.forward(values, z).x, one.forward(values, z).x), 1e-2);
}

TEST(RealNvp, WhatDoesNotFitIsRefused) {
  const Flow flow(4);
  EXPECT_TRUE(test::contains(test::message_of([] { RealNvp({.dimension = 1}); }), "at least two numbers"));
  EXPECT_TRUE(test::contains(test::message_of([&] {
                               flow.map.forward(flow.values.narrow(0, 1, 9), numbers(8, {1, 4}, 1));
                             }),
                             "parameters, found 9"));
}

}  // namespace
}  // namespace penumbra
