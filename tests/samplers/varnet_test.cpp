/// sampler.kind: varnet: one step is the network's answer, for each image its own; what does not fit is refused.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "app/experiments/linear/many_images.h"
#include "core/named.h"
#include "io/weights.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "samplers/sampler.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/random_weights.h"
#include "training/small_trainer.h"
#include "training/small_varnet.h"

namespace penumbra {
namespace {

using test::contains;
using test::message_of;
using test::numbers;

std::filesystem::path write_network(const NetworkHeader& header) {
  const auto file = test::scratch() / "network.safetensors";
  io::write_safetensors(file, test::random_weights(Architecture(header.architecture, "test")), header.to_json());
  return file;
}

struct VarNetSampler : testing::Test {
  std::shared_ptr<const ForwardModel> A = std::make_shared<DenseModel>(Shape{1, 8, 8}, numbers(6, {20, 64}, 1) / 14);
  Tensor y = numbers(6, {3, 20}, 2);
  std::shared_ptr<const Score> prior =
      make_prior(Settings::from_text("{kind: random_field, side: 8, modes: 4}", "test"), {at::kDouble, at::kCPU});
  std::filesystem::path file = write_network(test::varnet_header());

  Tensor step(const std::shared_ptr<const Likelihood>& g, const Tensor& x, const std::filesystem::path& network,
              int64_t steps = 1) const {
    auto settings = Settings::from_text(fmt::format("file: '{}'", network.string()), "test.yaml");
    const auto sampler = find_named(sampler_entries(), "varnet")->make(settings, {{g, prior}, 0, steps});
    settings.finish();
    ChainState state{x, 0, 0};
    sampler->step(state);
    EXPECT_EQ(state.k, 1);
    return state.x;
  }
  std::shared_ptr<const Likelihood> alone(int64_t image) const {
    return std::make_shared<GaussianLikelihood>(A, y[image], 0.1);
  }
  std::string refusal(const std::filesystem::path& network, int64_t steps = 1) const {
    return message_of([&] { step(alone(0), numbers(6, {1, 1, 8, 8}, 3), network, steps); });
  }
};

TEST_F(VarNetSampler, ABatchOfManyImagesIsEachByItself) {
  const auto together = std::make_shared<app::linear::ManyImages>(
      A, y, app::linear::ManyImages::Noise{0.1, app::linear::squared_norm(*A, {at::kDouble, at::kCPU})}, 2);
  const auto x = step(together, numbers(6, {6, 1, 8, 8}, 3), file);
  EXPECT_EQ(x.scalar_type(), at::kDouble);
  for (int64_t image = 0; image < 3; ++image) {
    // The network computes in float32, in another order for another batch.
    const auto own = step(alone(image), numbers(6, {1, 1, 8, 8}, 4), file);
    for (int64_t chain = 0; chain < 2; ++chain) EXPECT_LT(test::relative_error(x[2 * image + chain], own[0]), 1e-5);
  }
  EXPECT_GT(test::relative_error(x[0], x[2]), 1e-2);
}

TEST_F(VarNetSampler, OneStepIsTheNetworkWithTheNormalisedGradient) {
  const auto header = test::varnet_header();
  ScoreNetwork network;
  network.parameterisation = header.parameterisation;
  const Architecture architecture(header.architecture, "test");
  network.network = test::network_of(architecture, test::random_weights(architecture));
  const auto g = alone(1);
  const double L_g = g->lipschitz().value();
  const auto expected = network.reconstruct(
      [&](const Tensor& x) { return (g->grad(x.to(at::kDouble)) / L_g).to(at::kFloat); }, at::zeros({1, 1, 8, 8}));
  EXPECT_LT(test::relative_error(step(g, numbers(6, {1, 1, 8, 8}, 3), file), expected.to(at::kDouble)), 1e-5);
}

TEST_F(VarNetSampler, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(refusal(file), "");
  EXPECT_TRUE(contains(refusal(file, 2), "steps: expected 1"));
  auto denoiser = test::small_header(0.5, 1);
  denoiser.sigma_low = 0.01;
  denoiser.sigma_high = 1;
  EXPECT_TRUE(contains(refusal(write_network(denoiser)), "a denoiser, not a reconstruction network"));
  auto larger = test::varnet_header();
  larger.image_shape = {1, 16, 16};
  EXPECT_TRUE(contains(refusal(write_network(larger)), "expected images of 1x16x16"));
  auto odd = test::varnet_header();
  odd.image_shape = {1, 8, 7};
  EXPECT_TRUE(contains(refusal(write_network(odd)), "multiples of 2, found 1x8x7"));
  const auto bare = test::scratch() / "bare.safetensors";
  io::write_safetensors(bare, {{"a", at::zeros({2})}}, nullptr);
  EXPECT_NE(refusal(bare), "");
  const auto none = make_likelihood(Settings::from_text("kind: none", "test"), {1, 8, 8}, {at::kDouble, at::kCPU});
  EXPECT_TRUE(contains(message_of([&] {
                         step(none, numbers(6, {1, 1, 8, 8}, 3), file);
                       }),
                       "expected data of a linear"));
}

TEST_F(VarNetSampler, APriorRefusesItsFile) {
  const auto text = fmt::format("{{kind: network, file: '{}'}}", file.string());
  const auto message = message_of([&] { make_prior(Settings::from_text(text, "prior.yaml"), {}); });
  EXPECT_TRUE(contains(message, "prior.yaml")) << message;
  EXPECT_TRUE(contains(message, "a reconstruction network, not a denoiser; expected sampler.kind: varnet")) << message;
}

}  // namespace
}  // namespace penumbra
