/// What a network's output becomes: denoiser and score against their formulas.
#include "networks/parameterisation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::float32;
using test::numbers;

/// F(x, c) = 0.7 x + 0.2 c: a network whose denoiser is known.
class Affine final : public Network {
 public:
  Tensor operator()(const NetworkInput& input) const override {
    return 0.7 * input.x + 0.2 * input.condition.reshape({-1, 1, 1, 1});
  }
};

TEST(Karras, CoefficientsAreTheFormulas) {
  const double d = 0.4;
  for (const double s : {0.005, 0.4, 400.0}) {
    const KarrasCoefficients c(at::full({1}, s, float32), d);
    EXPECT_NEAR(c.skip.item<double>(), d * d / (s * s + d * d), 1e-6 * d * d / (s * s + d * d));
    EXPECT_NEAR(c.out.item<double>() * std::hypot(s, d) / (s * d), 1, 1e-6);
    EXPECT_NEAR(c.in.item<double>() * std::hypot(s, d), 1, 1e-6);
  }
}

TEST(Karras, DenoiserAndScoreAreExactAtEverySigma) {
  const double d = 0.4;
  const ScoreNetwork network{std::make_shared<Affine>(), {Parameterisation::Kind::karras, d}};
  for (const double s : {0.005, 0.3, 400.0}) {
    const auto x = (0.3 + std::max(s, 0.5) * numbers(8, {3, 1, 4, 5}, 0, at::kFloat)), exact_x = x.to(at::kDouble);
    const auto sigma = at::full({3}, s, float32);
    const double total = s * s + d * d;
    const auto F = 0.7 * exact_x / std::sqrt(total) + 0.2 * std::log(s);
    const auto D = d * d / total * exact_x + s * d / std::sqrt(total) * F;
    const auto ours = network.denoise(x, sigma), score = network.score(x, sigma);
    EXPECT_LT(test::relative_error(ours, D), 1e-5) << s;
    // As (D - x) / sigma^2 in float64: in float32 that difference would have lost six digits at 0.005.
    EXPECT_LT(test::relative_error(score, (D - exact_x) / (s * s)), 1e-5) << s;
    // Tweedie's formula, relative to x, of which both are made.
    EXPECT_LT((exact_x + s * s * score.to(at::kDouble) - ours).abs().max().item<double>(),
              1e-5 * exact_x.abs().max().item<double>())
        << s;
  }
}

TEST(Parameterisations, AreTheirFormulas) {
  const auto x = numbers(8, {2, 1, 4, 5}, 0, at::kFloat);
  const auto s = at::tensor({0.1, 3.0}, float32), column = s.reshape({2, 1, 1, 1});
  const auto F = Affine()({x, s, {}, false});
  const auto network = [](Parameterisation::Kind kind) { return ScoreNetwork{std::make_shared<Affine>(), {kind, 1}}; };
  using Kind = Parameterisation::Kind;
  EXPECT_LT(test::relative_error(network(Kind::score).score(x, s), F / column), 1e-6);
  EXPECT_LT(test::relative_error(network(Kind::plain).score(x, s), F), 1e-6);
  EXPECT_LT(test::relative_error(network(Kind::noise).denoise(x, s), x - F), 1e-6);
  for (const auto kind : {Kind::score, Kind::plain, Kind::noise}) {
    const auto D = network(kind).denoise(x, s);
    EXPECT_LT(test::relative_error(x + column.square() * network(kind).score(x, s), D), 1e-5);
  }
}

}  // namespace
}  // namespace penumbra
