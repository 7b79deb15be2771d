#include "theory/relaxation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace penumbra::theory {
namespace {

constexpr int64_t axes = 60, count = 400;

/// Curvatures from 1 to 1000.
Tensor curvatures() { return at::logspace(0, 3, axes, 10, at::kDouble); }

const ScoreField gaussian = [](const Tensor& x) { return -x * curvatures(); };

Tensor draws(const Tensor& variance) {
  return normal({3, 0, 0}, Stream::truth, at::empty({count, axes}, at::kDouble)) * variance.sqrt();
}

// Chains of step 1.6 / 1000: the stiffest direction is 5 times too wide.
TEST(Relaxation, TakesTheStepsExcessOff) {
  const auto lambda = curvatures(), exact = 1 / lambda;
  const auto before = draws(exact / (1 - 1.6e-3 * lambda / 2));
  const auto found = relax(gaussian, before);
  EXPECT_TRUE(found.moved);
  EXPECT_NEAR(found.curvature, 1000, 50);
  const auto excess = [&](const Tensor& x) { return x.square().mean(0) / exact - 1; };
  EXPECT_GT(excess(before).max().item<double>(), 3);
  // At most 10 % where the steps were long and the last ones do not reach, and four errors of sqrt(2 / 400) of the
  // variance.
  EXPECT_LT(excess(found.x).max().item<double>(), 0.1 + 4 * std::sqrt(2.0 / count));
  EXPECT_GT(excess(found.x).min().item<double>(), -4 * std::sqrt(2.0 / count));
  EXPECT_EQ(found.evaluations, 31 + 100 * count);
}

TEST(Relaxation, IsTheSeeds) {
  const auto x = draws(1 / curvatures());
  EXPECT_TRUE(relax(gaussian, x, {.seed = 4}).x.equal(relax(gaussian, x, {.seed = 4, .batch = 7}).x));
  EXPECT_FALSE(relax(gaussian, x, {.seed = 4}).x.equal(relax(gaussian, x, {.seed = 5}).x));
}

TEST(Relaxation, WhatWouldLeaveTheModeStays) {
  const auto x = draws(1 / curvatures());
  const auto away = relax([](const Tensor& at) { return at * 5; }, x);
  EXPECT_FALSE(away.moved);
  EXPECT_TRUE(away.x.equal(x));
  const auto broken = relax([](const Tensor& at) { return at * NAN; }, x);
  EXPECT_FALSE(broken.moved);
  EXPECT_FALSE(relax(gaussian, at::ones({3, axes}, at::kDouble)).moved) << "no spread";
}

}  // namespace
}  // namespace penumbra::theory
