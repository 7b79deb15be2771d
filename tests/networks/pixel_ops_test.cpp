/// Sums and normalisations that resample and add a bias on their way, against the operations one by one.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "networks/fused_norm.h"
#include "support/paths.h"

namespace penumbra {
namespace {

struct PixelOps : testing::TestWithParam<Resample> {
  Tensor random(const Shape& shape, at::MemoryFormat format = at::MemoryFormat::Contiguous) {
    return normal({6, 0, draw++}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kFloat)))
        .contiguous(format);
  }
  /// From 4x6 pixels, by LibTorch's own operation.
  Tensor by_hand(const Tensor& x) {
    return GetParam() == Resample::up     ? x.repeat_interleave(2, 2).repeat_interleave(2, 3)
           : GetParam() == Resample::down ? at::avg_pool2d(x, 2)
                                          : x;
  }
  Shape result_shape() { return by_hand(at::zeros({2, 32, 4, 6})).sizes().vec(); }
  const Shape shape{2, 32, 4, 6};
  c10::NoGradGuard no_gradients;
  int64_t draw = 0;
};

TEST_P(PixelOps, SumIsThatOfItsParts) {
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const auto a = random(shape, format), b = random(result_shape(), format), bias = random({32});
    const auto expected = by_hand(a) + b + bias.reshape({1, -1, 1, 1});
    EXPECT_LT(test::relative_error(add_to(a, {b.clone()}, GetParam()).value, by_hand(a) + b), 1e-6);
    EXPECT_LT(test::relative_error(add_to(a, {b, bias}, GetParam()).value, expected), 1e-6);
  }
}

TEST_P(PixelOps, NormalisationIsThatOfItsParts) {
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const auto x = random(shape, format), bias = random({32});
    NormalizationTerms terms{random({32}) + 1, random({32}), random({2, 64}), 32, true};
    const auto whole = x + bias.reshape({1, -1, 1, 1});
    const auto expected = by_hand(normalise_plainly(whole, terms));
    terms.resample = GetParam();
    EXPECT_LT(test::relative_error(normalise(Features{x, bias}, terms), expected), 1e-5);
    EXPECT_LT(test::relative_error(normalise_plainly(whole, terms), expected), 1e-6);
    const std::vector<Features> parts{{x.narrow(1, 0, 8), bias.narrow(0, 0, 8)},
                                      {x.narrow(1, 8, 24), bias.narrow(0, 8, 24)}};
    EXPECT_LT(test::relative_error(normalise(parts, terms), expected), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, PixelOps, testing::Values(Resample::none, Resample::down, Resample::up),
                         [](const auto& info) {
                           return info.param == Resample::none ? "none" : info.param == Resample::down ? "down" : "up";
                         });

}  // namespace
}  // namespace penumbra
