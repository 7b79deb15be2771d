// One step of training: how the batch is cut does not matter, and a resumed run takes the very same steps.
#include "training/trainer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "support/message.h"
#include "support/paths.h"
#include "training/small_images.h"
#include "training/small_trainer.h"

namespace penumbra::training {
namespace {

using test::small_header;
using test::small_options;
using State = std::map<std::string, Tensor>;
using Which = Trainer::Which;

ImageSet waves_up_to(double high = 1) {
  auto set = test::waves(30, 12);
  set.low = -high;
  set.high = high;
  return set;
}

struct Training : testing::Test {
  ImageSet images = waves_up_to();
  Team team;

  Trainer trainer(const TrainerOptions& options, double dropout = 0) const {
    return {options, small_header(0.5, 1, dropout), images, team, at::kCPU};
  }
  static State copy_of(const Trainer& trainer) {
    auto state = trainer.state();
    for (auto& [name, tensor] : state) tensor = tensor.clone();
    return state;
  }
  static void run(Trainer& trainer, int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) trainer.step();
  }
  static void expect_same(const State& found, const State& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [name, tensor] : expected) EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
  }
};

TEST_F(Training, TheLossFalls) {
  auto options = small_options(1);
  options.adam.learning_rate = 2e-3;
  options.ema_decay = 0.9;
  auto t = trainer(options);
  const auto before = t.validate(Which::ema, 1, 12).at(0);
  run(t, 60);
  const auto after = t.validate(Which::ema, 1, 12).at(0);
  EXPECT_LT(after.loss, 0.8 * before.loss);
  EXPECT_GT(after.psnr, before.psnr);
}

/// 8 = 8 images at once, or 2 + 2 + 2 + 2, or 2 + 3 + 3.
TEST_F(Training, PartsOfABatchAddUpToIt) {
  auto options = small_options(1);
  options.augment.horizontal_flip = 0.5;
  options.augment.rotation = 5;
  // With a large epsilon the step is proportional to the gradient, else to its sign, which rounding can flip.
  options.adam.epsilon = 1;
  options.adam.learning_rate = 1;
  auto whole = trainer(options);
  const auto start = whole.state().at("values").clone();
  const auto expected = whole.step();
  for (const int64_t parts : {3, 4}) {
    options.accumulate = parts;
    auto cut = trainer(options);
    const auto found = cut.step();
    EXPECT_NEAR(found.loss.item<double>() / expected.loss.item<double>(), 1, 1e-6);
    EXPECT_NEAR(found.gradient_norm.item<double>() / expected.gradient_norm.item<double>(), 1, 1e-5);
    // Sums of float32 in another order.
    EXPECT_LT(test::relative_error(cut.state().at("adam_mean"), whole.state().at("adam_mean")), 1e-4);
    EXPECT_LT(test::relative_error(cut.state().at("values") - start, whole.state().at("values") - start), 1e-4);
  }
}

TEST_F(Training, ResumesBitForBit) {
  auto options = small_options(1);
  options.augment.rotation = 5;
  for (const double dropout : {0.0, 0.3}) {
    auto straight = trainer(options, dropout), first = trainer(options, dropout), second = trainer(options, dropout);
    run(straight, 8);
    run(first, 4);
    const auto saved = copy_of(first);
    // Neither validation nor anything else that draws random numbers in between leaves a trace.
    first.validate(Which::ema, 2, 12);
    at::randn({100});
    second.restore(saved, first.k());
    run(second, 4);
    EXPECT_EQ(second.k(), 8);
    expect_same(second.state(), straight.state());
  }
}

TEST_F(Training, DropoutIsAtWork) {
  auto with = trainer(small_options(1), 0.3), without = trainer(small_options(1));
  run(with, 4);
  run(without, 4);
  EXPECT_FALSE(at::equal(with.state().at("values"), without.state().at("values")));
}

TEST_F(Training, DropoutIsOffInValidation) {
  auto with = trainer(small_options(1), 0.3), without = trainer(small_options(1));
  run(with, 4);
  without.restore(copy_of(with), 4);
  EXPECT_EQ(with.validate(Which::raw, 1, 12).at(0).loss, without.validate(Which::raw, 1, 12).at(0).loss);
}

/// From the same weights, so that only the draws of the step differ.
TEST_F(Training, AnotherSeedIsAnotherStep) {
  auto a = trainer(small_options(1)), same = trainer(small_options(1));
  auto options = small_options(1);
  options.seed = 6;
  auto b = trainer(options);
  const auto start = copy_of(a);
  same.restore(start, 0);
  b.restore(start, 0);
  a.step(), same.step(), b.step();
  expect_same(same.state(), a.state());
  EXPECT_FALSE(at::equal(a.state().at("values"), b.state().at("values")));
}

TEST_F(Training, WeightsAreTheStateByName) {
  auto t = trainer(small_options(1));
  run(t, 3);
  const auto raw = t.weights(Which::raw), ema = t.weights(Which::ema);
  double trained = 0;
  for (const auto& spec : Architecture(small_header(0.5, 1).architecture, "network").parameters()) {
    EXPECT_EQ(raw.at(spec.name).sizes(), at::IntArrayRef(spec.shape)) << spec.name;
    if (spec.trained)
      trained += raw.at(spec.name).to(at::kDouble).abs().sum().item<double>();
    else
      EXPECT_TRUE(at::equal(raw.at(spec.name), ema.at(spec.name))) << spec.name;
  }
  EXPECT_NEAR(trained, t.state().at("values").to(at::kDouble).abs().sum().item<double>(), 1e-9 * trained);
  EXPECT_FALSE(at::equal(raw.at("out.2.weight"), ema.at("out.2.weight")));
}

/// The average: decay min(0.2, k / (k + 10)) after step k.
TEST_F(Training, AveragesTheWeights) {
  auto options = small_options(1);
  options.ema_decay = 0.2;
  auto t = trainer(options);
  auto average = t.state().at("values").to(at::kDouble);
  for (int64_t k = 1; k <= 6; ++k) {
    t.step();
    const double decay = std::min(0.2, static_cast<double>(k) / static_cast<double>(k + 10));
    average = decay * average + (1 - decay) * t.state().at("values").to(at::kDouble);
  }
  EXPECT_LT(test::relative_error(t.state().at("ema").to(at::kDouble), average), 1e-6);
}

/// Before the first step F = 0 and D = c_skip x: nothing but the range of the pixels differs.
TEST_F(Training, QualityDoesNotDependOnTheRange) {
  const auto large = waves_up_to(100);
  auto options = small_options(100);
  options.levels.low *= 100;
  options.levels.high *= 100;
  const Trainer scaled(options, small_header(50, 100), large, team, at::kCPU);
  const auto expected = trainer(small_options(1)).validate(Which::ema, 3, 12),
             found = scaled.validate(Which::ema, 3, 12);
  for (size_t band = 0; band < 3; ++band) {
    EXPECT_NEAR(found[band].loss, expected[band].loss, 1e-5 * expected[band].loss);
    EXPECT_NEAR(found[band].psnr, expected[band].psnr, 1e-4);
  }
}

/// D = c_skip (x + sigma n) in double precision, with the noise drawn again.
TEST_F(Training, QualityIsThatOfTheFormula) {
  const auto found = trainer(small_options(1)).validate(Which::raw, 1, 12).at(0);
  const auto x = images.validation_batch(at::arange(12), {at::kDouble, at::kCPU});
  const auto sigma = (0.05 * ((at::arange(12, at::kDouble) + 0.5) / 12 * std::log(100.0)).exp()).reshape({-1, 1, 1, 1});
  const auto noise = normal({5, 0, 0}, Stream::validation_noise, x.to(at::kFloat)).to(at::kDouble);
  const auto error = (0.25 / (0.25 + sigma.square()) * (x + sigma * noise) - x).square().mean({1, 2, 3}, true);
  const auto weight = (0.25 + sigma.square()) / (0.25 * sigma.square());
  EXPECT_NEAR(found.loss, (error * weight).mean().item<double>(), 1e-5 * found.loss);
  EXPECT_NEAR(found.psnr, -10 * std::log10(error.mean().item<double>()), 1e-4);
}

TEST_F(Training, RefusesTheStateOfAnotherNetwork) {
  auto t = trainer(small_options(1));
  auto state = copy_of(t);
  state["ema"] = state["ema"].narrow(0, 1, 5);
  EXPECT_TRUE(test::contains(test::message_of([&] { t.restore(state, 3); }), "checkpoint: ema: expected"));
  state.erase("ema");
  EXPECT_TRUE(test::contains(test::message_of([&] { t.restore(state, 3); }), "checkpoint: ema: expected"));
}

}  // namespace
}  // namespace penumbra::training
