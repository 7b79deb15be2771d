/// The network's kernels on pixels, and the whole network, against LibTorch's operations. Skipped without a GPU.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "networks/cuda_norm.h"
#include "networks/cuda_pixels.h"
#include "support/paths.h"
#include "support/small_network.h"

namespace penumbra {
namespace {

struct CudaPixels : testing::TestWithParam<at::ScalarType> {
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  }
  Tensor random(const Shape& shape, double scale = 1) {
    const auto numbers = normal({8, 0, draw++}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kFloat)));
    const auto there = (numbers * scale).to(at::kCUDA).to(GetParam());
    return shape.size() == 4 ? there.contiguous(at::MemoryFormat::ChannelsLast) : there;
  }
  double tolerance() const { return GetParam() == at::kFloat ? 2e-6 : GetParam() == at::kHalf ? 1e-3 : 6e-3; }
  c10::NoGradGuard no_gradients;
  int64_t draw = 0;
};

Shape scaled(const Shape& shape, int64_t numerator, int64_t denominator) {
  return {shape[0], shape[1], shape[2] * numerator / denominator, shape[3] * numerator / denominator};
}

TEST_P(CudaPixels, SumIsThatOfFloat64) {
  for (const Shape& shape : {Shape{2, 64, 16, 16}, Shape{3, 8, 7, 9}, Shape{1, 136, 1, 5}, Shape{2, 512, 6, 10}})
    for (const auto resample : {Resample::none, Resample::up, Resample::down})
      for (const bool biased : {false, true}) {
        const auto from = random(shape);
        if (resample == Resample::down && (shape[2] % 2 != 0 || shape[3] % 2 != 0)) continue;
        const auto b = random(resample == Resample::up     ? scaled(shape, 2, 1)
                              : resample == Resample::down ? scaled(shape, 1, 2)
                                                           : shape);
        const auto bias = biased ? random({shape[1]}) : Tensor();
        auto expected = resampled(from.to(at::kDouble), resample) + b.to(at::kDouble);
        if (biased) expected = expected + bias.to(at::kDouble).reshape({1, -1, 1, 1});
        ASSERT_TRUE(cuda_add_serves(from, b, resample)) << describe(shape);
        const auto sum = add_to(from, {b, bias}, resample);
        EXPECT_TRUE(sum.is_contiguous(at::MemoryFormat::ChannelsLast));
        EXPECT_LT(test::relative_error(sum.to(at::kDouble), expected), tolerance()) << describe(shape);
      }
}

TEST_P(CudaPixels, NormalisationResamplesAndAddsTheBias) {
  for (const Shape& shape : {Shape{2, 64, 16, 16}, Shape{3, 96, 7, 9}, Shape{1, 256, 2, 2}, Shape{2, 160, 34, 18}})
    for (const auto resample : {Resample::none, Resample::up, Resample::down})
      for (const bool biased : {false, true}) {
        if (resample == Resample::down && (shape[2] % 2 != 0 || shape[3] % 2 != 0)) continue;
        const auto x = random(shape, 1.7);
        const auto floats = [](const Tensor& t) { return t.to(at::kFloat); };
        NormalizationTerms terms{floats(random({shape[1]})) + 1, floats(random({shape[1]})),
                                 floats(random({shape[0], 2 * shape[1]}, 0.5)), 32, true};
        terms.resample = resample;
        if (biased) terms.late_bias = random({shape[1]});
        auto exact = terms;
        for (auto* t : {&exact.weight, &exact.bias, &exact.film}) *t = t->to(at::kDouble);
        if (biased) exact.late_bias = terms.late_bias.to(at::kDouble);
        ASSERT_TRUE(cuda_norm_serves(x, terms)) << describe(shape);
        const auto expected = normalise_plainly(x.to(at::kDouble), exact);
        EXPECT_LT(test::relative_error(cuda_normalise(x, terms).to(at::kDouble), expected),
                  GetParam() == at::kFloat ? 1e-5 : tolerance())
            << describe(shape);
      }
}

TEST_P(CudaPixels, FirstConvolutionIsThatOfFloat64) {
  const auto floats = [](const Tensor& t) { return t.to(at::kFloat); };
  for (const Shape& shape : {Shape{2, 1, 16, 16}, Shape{3, 1, 7, 9}, Shape{1, 1, 1, 1}, Shape{1, 1, 300, 2}})
    for (const int64_t channels : {8, 96, 128, 2048}) {
      const auto x = floats(random(shape)), weight = floats(random({channels, 1, 3, 3})),
                 bias = floats(random({channels}));
      const auto like =
          at::empty({8, 8, 3, 3}, x.options().dtype(GetParam())).contiguous(at::MemoryFormat::ChannelsLast);
      ASSERT_TRUE(cuda_first_convolution_serves(x, weight, bias, like));
      const auto y = cuda_first_convolution(x, weight, bias, like);
      EXPECT_EQ(y.scalar_type(), GetParam());
      EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
      const auto expected = at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
      EXPECT_LT(test::relative_error(y.to(at::kDouble), expected), tolerance()) << describe(shape) << ' ' << channels;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaPixels, testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

/// A network of random weights, whole: the kernels together, in float32 like the CPU and in bfloat16 to 2 %.
TEST(CudaScore, IsThatOfTheCpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  c10::NoGradGuard no_gradients;
  const auto x = test::small_images(3, at::kCPU);
  const auto exact = test::small_network(at::kCPU, Compute::float32);
  const auto wide = test::small_network(at::kCUDA, Compute::float32);
  const auto narrow = test::small_network(at::kCUDA, Compute::bfloat16);
  for (const double sigma : {0.01, 0.1, 1.0}) {
    const auto expected = exact->score(x, sigma);
    EXPECT_LT(test::relative_error(wide->score(x.to(at::kCUDA), sigma).cpu(), expected), 1e-4) << sigma;
    EXPECT_LT(test::relative_error(narrow->score(x.to(at::kCUDA), sigma).cpu(), expected), 0.02) << sigma;
  }
}

/// The shipped prior at the levels that the issue names.
TEST(CudaScore, OfAShippedPriorIsThatOfFloat32) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  c10::NoGradGuard no_gradients;
  const auto load = [](const std::string& compute) {
    auto settings = Settings::from_text("{kind: network, name: face-64, compute: " + compute + "}", "test");
    return make_prior(settings, {at::kFloat, at::kCUDA});
  };
  const auto exact = load("float32"), fast = load("bfloat16");
  Shape shape = exact->image_shape();
  shape.insert(shape.begin(), 2);
  const auto noise = normal({4, 0, 0}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kFloat)));
  for (const auto& [sigma, most] : {std::pair{0.01, 0.02}, {0.02, 0.01}, {0.1, 0.01}}) {
    const auto x = (sigma * noise).to(at::kCUDA);
    EXPECT_LT(test::relative_error(fast->score(x, sigma).cpu(), exact->score(x, sigma).cpu()), most) << sigma;
  }
}

}  // namespace
}  // namespace penumbra
