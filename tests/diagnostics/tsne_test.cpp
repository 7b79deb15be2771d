#include "diagnostics/tsne.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace penumbra::diagnostics {
namespace {

Tensor cloud(uint64_t seed, int64_t count, int64_t axes) {
  return normal({seed, 0, 0}, Stream::truth, at::empty({count, axes}, at::kDouble));
}

Tensor distances(const Tensor& x) { return at::cdist(x, x).square(); }

TEST(Tsne, EveryRowHasTheAskedPerplexity) {
  // Scales of 1e-3 and 1e3 as well: the search must find the precision from anywhere.
  for (const double scale : {1e-3, 1.0, 1e3})
    for (const double perplexity : {5.0, 20.0, 60.0}) {
      const auto P = neighbour_probabilities(distances(scale * cloud(1, 100, 7)), perplexity);
      const auto entropy = -(P * P.clamp_min(1e-300).log()).sum(1);
      EXPECT_LT((entropy.exp() / perplexity - 1).abs().max().item<double>(), 1e-6);
      EXPECT_LT((P.sum(1) - 1).abs().max().item<double>(), 1e-12);
      EXPECT_EQ(P.diagonal().abs().max().item<double>(), 0);
    }
}

TEST(Tsne, GradientIsThatOfTheCost) {
  const auto conditional = neighbour_probabilities(distances(cloud(2, 12, 3)), 4);
  const auto P = (conditional + conditional.t()) / 24;
  const auto y = cloud(3, 12, 2);
  const auto grad = map_gradient(P, y);
  constexpr double h = 1e-5;  // error h^2 in the slope, 1e-16/h from rounding
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      auto step = at::zeros_like(y);
      step[i][j] = h;
      const auto slope = (map_cost(P, y + step) - map_cost(P, y - step)) / (2 * h);
      EXPECT_NEAR(grad[i][j].item<double>(), slope, 1e-8) << i << ", " << j;
    }
}

TEST(Tsne, CloudsFarApartStayApart) {
  auto x = cloud(4, 90, 10);
  for (int64_t i = 0; i < 90; ++i) x[i] += 20.0 * static_cast<double>(i % 3);
  const auto d = at::cdist(tsne(x), tsne(x));
  const auto group = at::arange(90) % 3;
  const auto same = group.unsqueeze(0) == group.unsqueeze(1);
  // The nearest neighbour of every image is one of its own cloud.
  const auto nearest = (d + at::eye(90, at::kDouble) * 1e9).argmin(1);
  EXPECT_TRUE(at::equal(group.index_select(0, nearest), group));
  EXPECT_GT(d.masked_select(~same).min().item<double>(), d.masked_select(same).median().item<double>());
}

TEST(Tsne, TheSameSeedGivesTheSameMap) {
  const auto x = cloud(5, 30, 4);
  EXPECT_TRUE(at::equal(tsne(x, {.steps = 50, .seed = 1}), tsne(x, {.steps = 50, .seed = 1})));
  EXPECT_FALSE(at::equal(tsne(x, {.steps = 50, .seed = 1}), tsne(x, {.steps = 50, .seed = 2})));
}

TEST(Tsne, EqualImagesHaveAPlace) { EXPECT_TRUE(tsne(at::ones({8, 3}, at::kDouble)).isfinite().all().item<bool>()); }

TEST(Tsne, RefusesWhatItCannotMap) {
  EXPECT_THROW(tsne(cloud(1, 3, 2)), InputError);
  EXPECT_THROW(tsne(at::zeros({most_on_map + 1, 1})), InputError);
  EXPECT_THROW(tsne(cloud(1, 10, 2), {.perplexity = 1}), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
