/// The network's kernels between convolutions, and the whole network, against LibTorch's operations. Skipped without
/// a GPU.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <array>

#include "networks/cuda_features.h"
#include "networks/layers.h"
#include "support/paths.h"
#include "support/small_network.h"

namespace penumbra {
namespace {

struct CudaFeatures : testing::TestWithParam<at::ScalarType> {
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  }
  Tensor random(const Shape& shape, double scale = 1) {
    const auto numbers = normal({8, 0, draw++}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kFloat)));
    const auto there = (numbers * scale).to(at::kCUDA).to(GetParam());
    return shape.size() == 4 ? there.contiguous(at::MemoryFormat::ChannelsLast) : there;
  }
  /// Sum and sum of squares of every image's channels, from chunks or by hand.
  static Tensor summed(const Features& x) { return x.sums.to(at::kDouble).sum(1); }
  static Tensor moments(const Tensor& x) {
    const auto numbers = x.to(at::kDouble).flatten(2);
    return at::stack({numbers.sum(2), numbers.square().sum(2)}, 2);
  }
  double tolerance() const { return GetParam() == at::kFloat ? 2e-6 : GetParam() == at::kHalf ? 1e-3 : 6e-3; }
  void compare_norm(const Shape& shape, int64_t split, Resample resample, bool biased);
  c10::NoGradGuard no_gradients;
  int64_t draw = 0;
};

Shape scaled(const Shape& shape, int64_t numerator, int64_t denominator) {
  return {shape[0], shape[1], shape[2] * numerator / denominator, shape[3] * numerator / denominator};
}

TEST_P(CudaFeatures, SumIsThatOfFloat64) {
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
        ASSERT_TRUE(cuda_add_serves(from, b, bias, resample)) << describe(shape);
        const auto sum = add_to(from, {b, bias}, resample);
        EXPECT_TRUE(sum.value.is_contiguous(at::MemoryFormat::ChannelsLast));
        EXPECT_LT(test::relative_error(sum.value.to(at::kDouble), expected), tolerance()) << describe(shape);
        EXPECT_LT(test::relative_error(summed(sum), moments(expected)), 1e-5) << describe(shape);
      }
}

/// The first `split` channels are one part and the others another; 0: there is one part.
void CudaFeatures::compare_norm(const Shape& shape, int64_t split, Resample resample, bool biased) {
  const auto x = random(shape, 1.7), bias = biased ? random({shape[1]}) : Tensor();
  const auto floats = [](const Tensor& t) { return t.to(at::kFloat); };
  NormalizationTerms terms{floats(random({shape[1]})) + 1, floats(random({shape[1]})),
                           floats(random({shape[0], 2 * shape[1]}, 0.5)), 32, true};
  terms.resample = resample;
  auto exact = terms;
  for (auto* t : {&exact.weight, &exact.bias, &exact.film}) *t = t->to(at::kDouble);
  const auto part = [&](int64_t from, int64_t count) -> Features {
    return {x.narrow(1, from, count).contiguous(at::MemoryFormat::ChannelsLast),
            biased ? bias.narrow(0, from, count).clone() : Tensor()};
  };
  std::vector<Features> parts;
  if (split > 0) parts.push_back(part(0, split));
  parts.push_back(part(split, shape[1] - split));
  ASSERT_TRUE(cuda_parts_norm_serves(parts, terms)) << describe(shape);
  const auto whole = biased ? x.to(at::kDouble) + bias.to(at::kDouble).reshape({1, -1, 1, 1}) : x.to(at::kDouble);
  const auto found = cuda_normalise_parts(parts, terms);
  EXPECT_TRUE(found.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_LT(test::relative_error(found.to(at::kDouble), normalise_plainly(whole, exact)),
            GetParam() == at::kFloat ? 1e-5 : tolerance())
      << describe(shape);
}

TEST_P(CudaFeatures, NormalisationOfPartsIsThatOfFloat64) {
  // Groups of 2 to 64 channels, with and without their borders where the second part begins.
  const std::vector<std::pair<Shape, int64_t>> cases{{{2, 64, 16, 16}, 0},  {{3, 96, 7, 9}, 32},
                                                     {{1, 256, 2, 2}, 128}, {{2, 160, 34, 18}, 64},
                                                     {{2, 384, 6, 4}, 256}, {{1, 2048, 2, 2}, 8}};
  for (const auto& [shape, split] : cases)
    for (const auto resample : {Resample::none, Resample::up, Resample::down})
      for (const bool biased : {false, true})
        if (resample != Resample::down || (shape[2] % 2 == 0 && shape[3] % 2 == 0))
          compare_norm(shape, split, resample, biased);
}

/// Shapes that nobody chose: odd sizes, groups of 1 to 9 channels, parts that end inside a group.
TEST_P(CudaFeatures, NormalisationOfRandomShapesIsThatOfFloat64) {
  const auto numbers = uniform({21, 0, 0}, Stream::probe, at::empty({24, 6}, at::kDouble));
  for (int64_t i = 0; i < numbers.size(0); ++i) {
    const auto below = [&](int64_t column, int64_t end) {
      return static_cast<int64_t>(numbers[i][column].item<double>() * static_cast<double>(end));
    };
    const Shape shape{1 + below(0, 5), 32 * (1 + below(1, 9)), 1 + below(2, 40), 1 + below(3, 40)};
    const bool even = shape[2] % 2 == 0 && shape[3] % 2 == 0;
    const auto resample = std::array{Resample::none, Resample::up, even ? Resample::down : Resample::none};
    compare_norm(shape, 8 * below(4, shape[1] / 8), resample.at(static_cast<size_t>(below(5, 3))), i % 2 == 0);
  }
}

/// A mean that is ten times the SD costs digits of the variance, and no more than these.
TEST_P(CudaFeatures, NormalisationFarFromZeroIsThatOfFloat64) {
  const Shape shape{2, 64, 24, 20};
  const auto x = (random(shape).to(at::kFloat) + 10).to(GetParam()).contiguous(at::MemoryFormat::ChannelsLast);
  const auto ones = at::ones({64}, x.options().dtype(at::kFloat));
  const NormalizationTerms terms{ones, at::zeros_like(ones), {}, 32, true};
  auto exact = terms;
  for (auto* t : {&exact.weight, &exact.bias}) *t = t->to(at::kDouble);
  const auto expected = normalise_plainly(x.to(at::kDouble), exact);
  EXPECT_LT(test::relative_error(cuda_normalise_parts(Features{x}, terms).to(at::kDouble), expected),
            GetParam() == at::kFloat ? 1e-4 : tolerance());
}

/// What a kernel would read wrongly it does not take.
TEST_P(CudaFeatures, OtherTensorsAreLeftToLibTorch) {
  const auto x = random({2, 64, 8, 8}), weight = at::ones({64}, x.options().dtype(at::kFloat).memory_format({}));
  const NormalizationTerms terms{weight, weight, {}, 32, true};
  ASSERT_TRUE(cuda_parts_norm_serves(Features{x}, terms));
  const auto serves = [&](const Tensor& images, const Tensor& film, const Tensor& bias = {}) {
    auto others = terms;
    others.film = film;
    return cuda_parts_norm_serves(Features{images, bias}, others);
  };
  EXPECT_FALSE(serves(x, at::zeros({1, 128}, weight.options()))) << "a film of one row";
  EXPECT_TRUE(serves(x, at::zeros({1, 128}, weight.options()).expand({2, 128})));
  EXPECT_FALSE(serves(x.contiguous(), {})) << "channels first";
  EXPECT_FALSE(serves(random({2, 60, 8, 8}), {})) << "no whole vectors";
  const auto numbers = random({1 + 2 * 64 * 64});
  EXPECT_FALSE(serves(numbers.narrow(0, 1, 2 * 64 * 64).view({2, 8, 8, 64}).permute({0, 3, 1, 2}), {}))
      << "not aligned";
  EXPECT_FALSE(serves(x, {}, numbers.narrow(0, 1, 64))) << "a bias that is not aligned";
}

/// More images than the card works on at once.
TEST_P(CudaFeatures, NormalisationOfManyImagesIsThatOfFloat64) {
  for (const auto resample : {Resample::none, Resample::up, Resample::down})
    compare_norm({40, 128, 64, 64}, 64, resample, true);
}

TEST_P(CudaFeatures, PointwiseConvolutionOfPartsIsThatOfFloat64) {
  const auto a = random({2, 24, 6, 5}), b = random({2, 40, 6, 5});
  Convolution conv;
  conv.weight = random({16, 64, 1, 1}, 0.2);
  conv.bias = random({16});
  const auto parts = side_by_side({a}, {b});
  ASSERT_EQ(parts.size(), 2u);
  const auto found = conv.unbiased(parts);
  const auto expected = at::conv2d(at::cat({a, b}, 1).to(at::kDouble), conv.weight.to(at::kDouble));
  EXPECT_TRUE(found.value.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_LT(test::relative_error(found.value.to(at::kDouble), expected), tolerance());
}

TEST_P(CudaFeatures, SkipIsThatOfFloat64) {
  struct Case {
    int64_t n, first, second, out, height, width;
  };
  for (const auto& c : {Case{2, 64, 64, 64, 16, 16}, Case{3, 32, 0, 40, 7, 9}, Case{1, 128, 128, 128, 32, 24},
                        Case{2, 512, 256, 264, 8, 8}, Case{1, 32, 96, 8, 1, 1}, Case{5, 256, 0, 512, 11, 13}})
    for (const bool biased : {false, true}) {
      std::vector<Features> parts{{random({c.n, c.first, c.height, c.width})}};
      if (c.second > 0) parts.push_back({random({c.n, c.second, c.height, c.width})});
      Convolution skip;
      skip.weight = random({c.out, c.first + c.second, 1, 1}, 0.1);
      skip.bias = random({c.out});
      const Features change{random({c.n, c.out, c.height, c.width}), biased ? random({c.out}) : Tensor()};
      auto joined = parts[0].value;
      if (c.second > 0) joined = at::cat({joined, parts[1].value}, 1);
      auto expected = change.value.to(at::kDouble) +
                      at::conv2d(joined.to(at::kDouble), skip.weight.to(at::kDouble), skip.bias.to(at::kDouble));
      if (biased) expected = expected + change.bias.to(at::kDouble).reshape({1, -1, 1, 1});
      ASSERT_EQ(cuda_skip_serves(parts, skip.weight, skip.bias, change), GetParam() != at::kFloat);
      if (GetParam() == at::kFloat) continue;
      const auto found = cuda_skip(parts, skip.weight, skip.bias, change);
      EXPECT_TRUE(found.value.is_contiguous(at::MemoryFormat::ChannelsLast));
      // The two biases are added to one short number before.
      EXPECT_LT(test::relative_error(found.value.to(at::kDouble), expected), tolerance()) << c.first << ' ' << c.out;
      EXPECT_LT(test::relative_error(summed(found), moments(expected)), biased ? tolerance() : 1e-5) << c.out;
    }
}

TEST_P(CudaFeatures, LastConvolutionIsThatOfFloat64) {
  const auto floats = [](const Tensor& t) { return t.to(at::kFloat); };
  for (const Shape& shape :
       {Shape{2, 64, 16, 16}, Shape{3, 128, 7, 9}, Shape{1, 32, 1, 1}, Shape{2, 256, 3, 40}, Shape{2, 96, 33, 5}}) {
    const auto x = random(shape, 1.7), weight = random({1, shape[1], 3, 3}, 0.1), bias = random({1});
    const NormalizationTerms terms{floats(random({shape[1]})) + 1, floats(random({shape[1]})), {}, 32, true};
    auto exact = terms;
    for (auto* t : {&exact.weight, &exact.bias}) *t = t->to(at::kDouble);
    ASSERT_EQ(cuda_last_convolution_serves({x}, terms, weight), GetParam() != at::kFloat) << describe(shape);
    if (GetParam() == at::kFloat) continue;
    const auto found = cuda_last_convolution({x}, terms, weight, bias);
    EXPECT_EQ(found.scalar_type(), at::kFloat);
    const auto expected =
        at::conv2d(normalise_plainly(x.to(at::kDouble), exact), weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
    // Nothing but x and the weights is short; an activation is two short numbers.
    EXPECT_LT(test::relative_error(found.to(at::kDouble), expected), 3e-5) << describe(shape);
  }
}

TEST_P(CudaFeatures, FirstConvolutionIsThatOfFloat64) {
  const auto floats = [](const Tensor& t) { return t.to(at::kFloat); };
  for (const Shape& shape : {Shape{2, 1, 16, 16}, Shape{3, 1, 7, 9}, Shape{1, 1, 1, 1}, Shape{1, 1, 300, 2}})
    for (const int64_t channels : {8, 96, 128, 2048}) {
      const auto x = floats(random(shape)), weight = floats(random({channels, 1, 3, 3})),
                 bias = floats(random({channels}));
      const auto like =
          at::empty({8, 8, 3, 3}, x.options().dtype(GetParam())).contiguous(at::MemoryFormat::ChannelsLast);
      ASSERT_TRUE(cuda_first_convolution_serves(x, weight, bias, like));
      const auto y = cuda_first_convolution(x, weight, bias, like);
      EXPECT_EQ(y.value.scalar_type(), GetParam());
      EXPECT_TRUE(y.value.is_contiguous(at::MemoryFormat::ChannelsLast));
      const auto expected = at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
      EXPECT_LT(test::relative_error(y.value.to(at::kDouble), expected), tolerance())
          << describe(shape) << ' ' << channels;
      EXPECT_LT(test::relative_error(summed(y), moments(expected)), 1e-5) << describe(shape) << ' ' << channels;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaFeatures, testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
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

/// The shipped prior at the levels that the issue names, on an image of its own.
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
  const auto noise =
      normal({4, 0, 0}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kFloat))).to(at::kCUDA);
  // Denoised again and again, from noise alone to a face.
  auto image = 10 * noise;
  for (double sigma = 10; sigma > 0.01; sigma *= 0.8) image = exact->denoise(image + 0.5 * sigma * noise, sigma);
  for (const auto& [sigma, most] : {std::pair{0.01, 0.02}, {0.02, 0.01}, {0.1, 0.01}}) {
    const auto x = image + sigma * noise;
    EXPECT_LT(test::relative_distance(fast->score(x, sigma).cpu(), exact->score(x, sigma).cpu()), most) << sigma;
  }
}

}  // namespace
}  // namespace penumbra
