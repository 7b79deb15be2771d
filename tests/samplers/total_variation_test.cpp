/// Total variation: cases with a known solution, the optimality condition, a falling objective.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "samplers/sampler.h"
#include "support/denoising.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::after_steps;
using test::denoising;
using test::float64;

std::unique_ptr<Sampler> make_tv(std::shared_ptr<const Likelihood> likelihood, const std::string& options) {
  return test::make_sampler("tv", std::move(likelihood), options);
}

/// Written apart from the code under test: a loop over pixels.
double total_variation(const Tensor& image) {
  double sum = 0;
  const auto x = image.accessor<double, 3>();
  for (int64_t i = 0; i < image.size(1); ++i)
    for (int64_t j = 0; j < image.size(2); ++j) {
      double square = 0;
      for (int64_t c = 0; c < image.size(0); ++c) {
        if (i + 1 < image.size(1)) square += std::pow(x[c][i + 1][j] - x[c][i][j], 2);
        if (j + 1 < image.size(2)) square += std::pow(x[c][i][j + 1] - x[c][i][j], 2);
      }
      sum += std::sqrt(square);
    }
  return sum;
}

TEST(TotalVariation, AnEdgeLosesContrastByTheFormula) {
  // Left and right parts of widths 3 and 5, at 0 and 1: the levels move towards each other by lambda beta^2 / width.
  auto y = at::zeros({1, 4, 8}, float64);
  y.narrow(2, 3, 5).fill_(1);
  const double beta = 0.5, lambda = 0.6;
  const auto sampler = make_tv(denoising(y, beta), "{step_size: 0.25, lambda: 0.6, dual_steps: 50}");
  const auto x = after_steps(*sampler, at::rand({2, 1, 4, 8}, float64), 10);
  auto expected = at::full({1, 4, 8}, lambda * beta * beta / 3, float64);
  expected.narrow(2, 3, 5).fill_(1 - lambda * beta * beta / 5);
  for (int c = 0; c < 2; ++c) EXPECT_LT((x[c] - expected).abs().max().item<double>(), 1e-5);
}

TEST(TotalVariation, MuchOfItLeavesTheMean) {
  const auto y = normal({3, 0, 0}, Stream::probe, at::empty({1, 6, 5}, float64));
  const auto sampler = make_tv(denoising(y, 1), "{step_size: 1, lambda: 50, dual_steps: 300}");
  const auto x = after_steps(*sampler, at::zeros({1, 1, 6, 5}, float64), 10);
  EXPECT_LT((x - y.mean()).abs().max().item<double>(), 1e-6);
}

TEST(TotalVariation, TheBoxHolds) {
  auto y = at::zeros({1, 4, 8}, float64);
  y.narrow(2, 3, 5).fill_(1);
  const auto sampler = make_tv(denoising(y, 0.5), "{step_size: 0.25, lambda: 0.6, box_low: 0.2, box_high: 0.4}");
  const auto x = after_steps(*sampler, at::rand({1, 1, 4, 8}, float64), 5);
  // Each level goes to the end of the box that is nearest to it.
  EXPECT_LT((x[0].narrow(2, 0, 3) - 0.2).abs().max().item<double>(), 1e-9);
  EXPECT_LT((x[0].narrow(2, 3, 5) - 0.4).abs().max().item<double>(), 1e-9);
}

struct FewData : testing::Test {
  const Shape shape{2, 8, 8};
  const Tensor A = normal({4, 0, 1}, Stream::probe, at::empty({50, 128}, float64)) / std::sqrt(50.0);
  const Tensor truth = (normal({4, 0, 2}, Stream::probe, at::empty({2, 8, 8}, float64)) > 0.8).to(at::kDouble);
  std::shared_ptr<const GaussianLikelihood> g =
      std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, A), A.matmul(truth.flatten()), 0.1);
  const double lambda = 3;
  std::unique_ptr<Sampler> sampler = make_tv(
      g, fmt::format("{{step_size: {}, lambda: {}, inner_steps: 40, dual_steps: 20}}", 1 / *g->lipschitz(), lambda));

  double objective(const Tensor& x) const {
    return g->value(x).item<double>() + lambda * total_variation(x[0].contiguous());
  }
};

TEST_F(FewData, TheObjectiveFallsAndItsMinimumIsReached) {
  ChainState state{at::zeros({1, 2, 8, 8}, float64)};
  double before = objective(state.x);
  for (int k = 0; k < 40; ++k) {
    sampler->step(state);
    const double now = objective(state.x);
    EXPECT_LE(now, before * (1 + 1e-12)) << k;
    before = now;
  }
  // At a minimum no direction descends: of many random ones, short and long, and towards the truth.
  for (int64_t k = 0; k < 200; ++k) {
    const auto d = k == 0 ? truth.unsqueeze(0) - state.x : normal({4, 0, 10 + k}, Stream::probe, state.x);
    for (const double h : {1e-4, 1e-2}) EXPECT_GE(objective(state.x + h * d), before * (1 - 1e-6)) << k << " " << h;
  }
  // The optimality condition: grad g + lambda D^T p = 0 with |p| <= 1; constants have D^T p = 0 in each channel's sum.
  const auto grad = g->grad(state.x)[0].flatten(1).sum(1);
  EXPECT_LT(grad.abs().max().item<double>(), 1e-3 * norm_per_chain(g->grad(at::zeros_like(state.x))).item<double>());
}

TEST_F(FewData, AnotherStartGivesTheSameObjective) {
  const auto one = after_steps(*sampler, at::zeros({1, 2, 8, 8}, float64), 40);
  const auto other = after_steps(*sampler, normal({4, 0, 5}, Stream::probe, one), 40);
  EXPECT_NEAR(objective(one), objective(other), 1e-4 * objective(one));
}

TEST_F(FewData, ChainsDoNotTouchEachOther) {
  const auto starts = normal({4, 0, 6}, Stream::probe, at::empty({3, 2, 8, 8}, float64));
  const auto together = after_steps(*sampler, starts, 2);
  for (int64_t c = 0; c < 3; ++c)
    EXPECT_LT(test::relative_error(after_steps(*sampler, starts.narrow(0, c, 1), 2), together.narrow(0, c, 1)), 1e-9);
}

TEST_F(FewData, AStepThatIsTooLongIsRefused) {
  const double L_g = *g->lipschitz();
  const auto refusal = [&](double gamma) {
    return test::message_of([&] { make_tv(g, fmt::format("{{step_size: {}, lambda: 3}}", gamma)); });
  };
  EXPECT_EQ(refusal(1.3 / L_g), "");
  EXPECT_TRUE(test::contains(refusal(1.4 / L_g), "test:1: step_size: expected at most 1 / L_g")) << refusal(1.4 / L_g);
}

/// The same with a curvature that nobody knows.
class OfUnknownCurvature final : public Likelihood {
 public:
  explicit OfUnknownCurvature(std::shared_ptr<const Likelihood> g) : Likelihood(g->image_shape()), g_(std::move(g)) {}
  std::vector<Misfit> misfit(const Tensor& x) const override { return g_->misfit(x); }
  Tensor simulate(const Tensor& x, const Cursor& at) const override { return g_->simulate(x, at); }

 private:
  Tensor do_value(const Tensor& x) const override { return g_->value(x); }
  Tensor do_grad(const Tensor& x) const override { return g_->grad(x); }
  std::shared_ptr<const Likelihood> g_;
};

TEST_F(FewData, AStepThatRaisesTheObjectiveIsAnError) {
  const auto unknown = std::make_shared<OfUnknownCurvature>(g);
  const auto long_one = make_tv(unknown, fmt::format("{{step_size: {}, lambda: 3}}", 10 / *g->lipschitz()));
  const auto message = test::message_of([&] { after_steps(*long_one, at::zeros({1, 2, 8, 8}, float64), 1); });
  EXPECT_TRUE(test::contains(message, "sampler.step_size: ")) << message;
  const auto right = make_tv(unknown, fmt::format("{{step_size: {}, lambda: 3}}", 1 / *g->lipschitz()));
  const auto x = after_steps(*right, at::zeros({1, 2, 8, 8}, float64), 40);
  EXPECT_EQ(test::message_of([&] { after_steps(*right, x, 1); }), "");  // at the minimum
}

}  // namespace
}  // namespace penumbra
