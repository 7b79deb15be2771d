/// Our CUDA kernels against LibTorch's operations in float64. Skipped where there is no GPU.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/random.h"
#include "networks/cuda_norm.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::relative_distance;

struct NormCase {
  int64_t count, channels, height, width;
  bool film, activate;
  at::ScalarType type;
};

struct CudaNorm : testing::TestWithParam<NormCase> {};

TEST_P(CudaNorm, ValuesAndGradientsAreThoseOfFloat64) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  const auto p = GetParam();
  int64_t draw = 0;
  const auto random = [&](std::vector<int64_t> shape) {
    return normal({8, 0, draw++}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kFloat))).to(at::kCUDA);
  };
  const auto x = (random({p.count, p.channels, p.height, p.width}) * 1.7 + 0.4)
                     .to(p.type)
                     .contiguous(at::MemoryFormat::ChannelsLast);
  const auto dy =
      random({p.count, p.channels, p.height, p.width}).to(p.type).contiguous(at::MemoryFormat::ChannelsLast);
  const auto weight = random({p.channels}) + 1, bias = random({p.channels});
  const auto film = p.film ? random({p.count, 2 * p.channels}) * 0.5 : Tensor();

  const auto results = [&](at::ScalarType type, auto&& function) {
    c10::AutoGradMode gradients(true);
    std::vector<Tensor> inputs;
    const auto leaf = [&](const Tensor& t, at::ScalarType as) {
      if (!t.defined()) return Tensor();
      inputs.push_back(t.detach().to(as).clone().requires_grad_(true));
      return inputs.back();
    };
    const auto narrow = type == at::kDouble ? at::kDouble : p.type,
               wide = type == at::kDouble ? at::kDouble : at::kFloat;
    const auto in = leaf(x, narrow);
    const NormalizationTerms terms{leaf(weight, wide), leaf(bias, wide), leaf(film, wide), 32, p.activate};
    const auto y = function(in, terms);
    y.backward(dy.to(y.scalar_type()));
    std::vector<Tensor> all{y.detach()};
    for (const auto& input : inputs) all.push_back(input.grad());
    return all;
  };
  const auto exact = results(at::kDouble, normalise_plainly);
  const auto fused = results(at::kFloat, [](const Tensor& in, const NormalizationTerms& terms) {
    EXPECT_TRUE(cuda_norm_serves(in, terms));
    return cuda_normalise(in, terms);
  });
  // y and the gradient of x are rounded to the short type; all others are sums in float32.
  const double rounding = p.type == at::kBFloat16 ? 3e-3 : p.type == at::kHalf ? 4e-4 : 1e-5;
  ASSERT_EQ(exact.size(), fused.size());
  for (size_t i = 0; i < exact.size(); ++i)
    EXPECT_LT(relative_distance(fused[i], exact[i]), fused[i].scalar_type() == at::kFloat ? 1e-5 : rounding)
        << "output " << i;
}

/// The kernels leave no graph, so a gradient that is to be differentiated again is refused.
TEST(CudaNormGradient, HasNoSecondDerivative) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  c10::AutoGradMode gradients(true);
  const auto floats = at::TensorOptions().dtype(at::kFloat).device(at::kCUDA);
  const auto x = at::ones({1, 32, 4, 4}, floats).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_(true);
  const auto y = cuda_normalise(x, {at::ones({32}, floats), at::zeros({32}, floats), Tensor(), 32, true});
  const auto dy = at::ones_like(y).requires_grad_(true);
  EXPECT_THROW(torch::autograd::grad({y}, {x}, {dy}, /*retain_graph=*/true, /*create_graph=*/true), c10::Error);
  EXPECT_NO_THROW(torch::autograd::grad({y}, {x}, {dy}));
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaNorm,
                         testing::Values(NormCase{2, 64, 16, 16, true, true, at::kFloat},
                                         NormCase{3, 96, 7, 9, true, true, at::kFloat},
                                         NormCase{1, 256, 1, 1, false, true, at::kFloat},
                                         NormCase{2, 64, 128, 128, true, true, at::kBFloat16},
                                         NormCase{2, 192, 33, 17, false, false, at::kBFloat16},
                                         NormCase{2, 1024, 8, 8, true, true, at::kBFloat16},
                                         NormCase{2, 2048, 4, 4, true, true, at::kHalf}));

}  // namespace
}  // namespace penumbra
