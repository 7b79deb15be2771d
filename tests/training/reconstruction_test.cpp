// Learning to reconstruct: the gradient is that of the loss, and the trained network beats the one it starts as.
#include "training/reconstruction.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "models/dense.h"
#include "networks/varnet.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/random_weights.h"
#include "training/small_images.h"
#include "training/small_varnet.h"
#include "training/trainer.h"

namespace penumbra::training {
namespace {

using test::numbers;
using test::varnet_header;
using Which = Trainer::Which;

/// 24 numbers of an 8x8 image: sums of all pixels, or every third pixel or so.
Tensor sums(at::ScalarType type) { return numbers(3, {24, 64}, 1, type) / 8; }
Tensor pixels(at::ScalarType type) { return at::eye(64, type).index_select(0, (at::arange(24) * 29).remainder(64)); }

LinearMeasurement measurement(const Tensor& matrix, double beta = 0.05) {
  const double norm_sq = at::linalg_eigvalsh(matrix.t().matmul(matrix).to(at::kDouble)).max().item<double>();
  return {std::make_shared<DenseModel>(Shape{1, 8, 8}, matrix), beta, norm_sq};
}

TEST(DataGradient, IsThatOfTheMisfitAndKnowsItsOwnDerivative) {
  const auto A = sums(at::kDouble), y = numbers(3, {2, 24}, 2), v = numbers(3, {2, 1, 8, 8}, 4);
  const auto m = measurement(A);
  const auto x = numbers(3, {2, 1, 8, 8}, 3).requires_grad_();
  const auto G = m.gradient(y)(x);
  const auto expected = (flat(x.detach()).matmul(A.t()) - y).matmul(A) / m.norm_sq;
  EXPECT_LT(test::relative_error(flat(G.detach()), expected), 1e-13);
  (G * v).sum().backward();
  const auto curvature = flat(v).matmul(A.t()).matmul(A) / m.norm_sq;
  EXPECT_LT(test::relative_error(flat(x.grad()), curvature), 1e-13);
}

/// Central differences of step h in float64 along random directions: an error of h^2, and of 1e-16 / h by rounding.
TEST(ReconstructionLoss, ItsGradientIsThatOfFiniteDifferences) {
  const auto m = measurement(sums(at::kDouble));
  const Architecture architecture(varnet_header().architecture, "test");
  auto weights = test::random_weights(architecture);
  for (auto& [name, tensor] : weights) tensor = tensor.to(at::kDouble);
  const auto x = numbers(3, {3, 1, 8, 8}, 5);
  const auto y = m.measure(x, {6, 0, 0}, Stream::probe);
  const auto start = -m.gradient(y)(at::zeros_like(x));
  const auto loss = [&](const std::map<std::string, Tensor>& at) {
    return ((*test::network_of(architecture, at))({start, {}, {}, false, m.gradient(y)}) - x).square().mean();
  };
  c10::AutoGradMode gradients(true);
  for (auto& [name, tensor] : weights) tensor.requires_grad_();
  loss(weights).backward();
  c10::NoGradGuard no_gradients;
  for (int64_t direction = 0; direction < 3; ++direction) {
    constexpr double h = 1e-5;
    auto ahead = weights, behind = weights;
    double expected = 0;
    int64_t k = 100 * (direction + 1);
    for (const auto& [name, tensor] : weights) {
      const auto d = numbers(3, tensor.sizes().vec(), ++k);
      ahead[name] = tensor.detach() + h * d;
      behind[name] = tensor.detach() - h * d;
      expected += (tensor.grad() * d).sum().item<double>();
    }
    const double found = (loss(ahead) - loss(behind)).item<double>() / (2 * h);
    EXPECT_NEAR(found / expected, 1, 1e-5);
  }
}

struct ReconstructionTraining : testing::Test {
  ImageSet images = test::waves(40, 12);
  Team team;

  TrainerOptions options() const {
    TrainerOptions o;
    o.steps = 200;
    o.batch = 8;
    o.adam.learning_rate = 5e-3;
    o.adam.warm_up = 5;
    o.ema_decay = 0.9;
    o.seed = 5;
    o.task = std::make_shared<Reconstruction>(measurement(pixels(at::kFloat)));
    return o;
  }
  Trainer trainer(const TrainerOptions& o) const { return {o, varnet_header(), images, team, at::kCPU}; }
  static void run(Trainer& trainer, int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) trainer.step();
  }
};

/// The measurements of validation drawn again, in double precision.
TEST_F(ReconstructionTraining, ItStartsAsGradientDescentAndEndsFarBelow) {
  auto t = trainer(options());
  const auto before = t.validate(Which::ema, 8, 12);
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].sigma_high, 0);
  const auto A = pixels(at::kDouble);
  const auto m = measurement(A);
  const auto x = images.validation_batch(at::arange(12), {at::kDouble, at::kCPU});
  // Rows of a batch of 8, then the other 4: a row's noise is its own.
  const auto noise = normal({5, 0, 0}, Stream::validation_noise, at::empty({12, 24}, at::kFloat)).to(at::kDouble);
  const auto y = flat(x).matmul(A.t()) + m.beta * noise;
  const auto adjoint = (y.matmul(A) / m.norm_sq).view_as(x);
  auto found = adjoint;
  for (int i = 0; i < 2; ++i) found = found - ((flat(found).matmul(A.t()) - y).matmul(A) / m.norm_sq).view_as(x);
  const auto mse = (found - x).square().mean().item<double>();
  EXPECT_NEAR(before[0].loss / mse, 1, 1e-5);
  EXPECT_NEAR(before[0].psnr, -10 * std::log10(mse), 1e-4);

  run(t, 200);
  const auto after = t.validate(Which::ema, 8, 12).at(0);
  EXPECT_LT(after.loss, 0.5 * (adjoint - x).square().mean().item<double>());
  EXPECT_LT(after.loss, 0.5 * mse);
}

/// Only the corrections are rounded, which start at zero: the first validation is the same to the bit.
TEST_F(ReconstructionTraining, LearnsInAShortTypeToo) {
  auto o = options();
  const auto exact = trainer(o).validate(Which::raw, 1, 12).at(0);
  o.compute = at::kBFloat16;
  auto t = trainer(o);
  EXPECT_EQ(t.validate(Which::raw, 1, 12).at(0).loss, exact.loss);
  run(t, 40);
  EXPECT_LT(t.validate(Which::raw, 1, 12).at(0).loss, 0.8 * exact.loss);
}

TEST_F(ReconstructionTraining, ResumesBitForBit) {
  auto o = options();
  o.augment.low = -1;
  o.augment.rotation = 5;
  auto straight = trainer(o), first = trainer(o), second = trainer(o);
  run(straight, 6);
  run(first, 3);
  auto saved = first.state();
  for (auto& [name, tensor] : saved) tensor = tensor.clone();
  first.validate(Which::ema, 1, 12);
  second.restore(saved, first.k());
  run(second, 3);
  for (const auto& [name, tensor] : straight.state()) EXPECT_TRUE(at::equal(second.state().at(name), tensor)) << name;
}

/// A row's noise does not depend on how the batch is cut; sums of float32 in another order do.
TEST_F(ReconstructionTraining, PartsOfABatchAddUpToIt) {
  auto whole = trainer(options());
  const auto expected = whole.step();
  for (const int64_t parts : {3, 8}) {
    auto o = options();
    o.accumulate = parts;
    auto cut = trainer(o);
    const auto found = cut.step();
    EXPECT_NEAR(found.loss.item<double>() / expected.loss.item<double>(), 1, 1e-5);
    EXPECT_NEAR(found.gradient_norm.item<double>() / expected.gradient_norm.item<double>(), 1, 1e-4);
  }
}

}  // namespace
}  // namespace penumbra::training
