/// A step whose numbers only memory holds is the step whose numbers are known, bit for bit.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "priors/clamped_sigma.h"
#include "run/graph_step.h"
#include "samplers/langevin.h"
#include "samplers/pmc.h"
#include "support/small_network.h"

namespace penumbra {
namespace {

constexpr uint64_t capture_seed = 3;

std::shared_ptr<const Schedule> falling() {
  return std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = 1, .sigma_min = 0.1, .xi = 0.7, .alpha_0 = 9});
}

void expect_the_same(const CapturableSampler& sampler, int64_t k) {
  c10::NoGradGuard no_gradients;
  ChainState state{test::small_images(3, at::kCPU), k, 2};
  auto values = at::empty({5}, at::TensorOptions().dtype(at::kDouble));
  sampler.numbers(k).write(values);
  const auto moved = sampler.move(state.x, StepScalars::in(values), {capture_seed, state.first_chain, k});
  const auto info = sampler.step(state);
  EXPECT_TRUE(moved.x.equal(state.x)) << "k = " << k;
  EXPECT_TRUE(moved.grad_norm.equal(info.grad_norm));
  EXPECT_TRUE(moved.score_norm.equal(info.score_norm));
  EXPECT_EQ(info.sigma, sampler.annealing(k).sigma);
}

/// Another range of pixels, so that sigma is scaled on its way.
Posterior posterior() {
  return test::small_posterior(test::small_network(at::kCPU, Compute::float32, {0, 3}), at::kCPU);
}

TEST(HeldNumbers, MakeTheSameStepOfPmc) {
  for (const auto discretization : {Discretization::red, Discretization::pnp})
    expect_the_same(Pmc(posterior(), capture_seed, {.discretization = discretization, .gamma = 1e-3, .sigma = 0.3}), 5);
}

TEST(HeldNumbers, MakeTheSameStepOfAnnealedPmc) {
  for (const bool warm : {false, true})
    for (const bool denoised : {false, true})
      for (const auto discretization : {Discretization::red, Discretization::pnp}) {
        const AnnealedPmc sampler(posterior(), capture_seed,
                                  {.discretization = discretization,
                                   .gamma = 1e-3,
                                   .schedule = falling(),
                                   .warm = warm,
                                   .denoised = denoised,
                                   .pull = 0.02});
        for (const int64_t k : {0, 3, 40}) expect_the_same(sampler, k);
        EXPECT_EQ(sampler.operations(0) != sampler.operations(40), denoised);
        EXPECT_FALSE(sampler.obstacle(0).has_value());
      }
}

/// Numbers as tensors round like plain ones, in both precisions: runs of earlier versions are repeated bit for bit.
TEST(LangevinUpdate, HasTheBitsOfPlainNumbers) {
  const Cursor at{capture_seed, 1, 17};
  const StepNumbers numbers{0.3, 7.1, 1.3e-3, std::sqrt(2.6e-3), at.k};
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto random = [&](int64_t k) {
      return normal({8, 0, k}, Stream::probe, at::empty({3, 1, 5, 7}, at::TensorOptions().dtype(type)));
    };
    const auto x = random(0), g = random(1), S = random(2), z = normal(at, Stream::langevin, x);
    const auto plain = x - numbers.gamma * (g - numbers.alpha * S) + numbers.noise * z;
    EXPECT_TRUE(langevin_update(x, g, S, StepScalars::of(numbers), at).equal(plain));
    EXPECT_EQ(plain.scalar_type(), type);
    const auto scalars = StepScalars::of(numbers);
    EXPECT_TRUE((x - scalars.gamma * g).equal(x - numbers.gamma * g));
    EXPECT_TRUE((S / (scalars.sigma * scalars.sigma)).equal(S / (numbers.sigma * numbers.sigma)));
  }
}

/// Through the network, with the likelihood of an interferometer whose noise is annealed.
TEST(HeldNumbers, MakeTheSameStepThroughTheNetworkAndTheLevelsOfTheData) {
  for (const bool added_noise : {false, true}) {
    AnnealedPmc::Options options{.gamma = 1e-7, .schedule = falling()};
    options.warm = options.denoised = options.chain_rule = true;
    options.added_noise = added_noise;
    options.momentum = 0.8;
    auto given = posterior();
    if (added_noise) given.likelihood = test::small_closures(given.image_shape(), at::kCPU);
    const AnnealedPmc sampler(given, capture_seed, options);
    for (const int64_t k : {0, 3, 40}) {
      expect_the_same(sampler, k);
      EXPECT_FALSE(sampler.obstacle(k).has_value());
    }
  }
}

TEST(HeldNumbers, AreNotForEveryStep) {
  // What is clamped is counted by the host.
  auto clamped = posterior();
  clamped.prior = std::make_shared<ClampedSigmaScore>(clamped.prior);
  EXPECT_TRUE(Pmc(clamped, capture_seed, {.gamma = 1e-3, .sigma = 0.3}).obstacle(0).has_value());
}

TEST(HeldNumbers, AreRefusedOutsideTheRange) {
  EXPECT_THROW(Pmc(posterior(), capture_seed, {.gamma = 1e-3, .sigma = 1e9}).require_level(0), std::runtime_error);
}

TEST(GraphStep, IsThePlainStepOnACpu) {
  c10::NoGradGuard no_gradients;
  const AnnealedPmc sampler(posterior(), capture_seed, {.gamma = 1e-3, .schedule = falling()});
  GraphStep step(sampler);
  ChainState a{test::small_images(2, at::kCPU), 0, 0}, b = a;
  for (int i = 0; i < 3; ++i) {
    step(a);
    sampler.step(b);
  }
  EXPECT_TRUE(a.x.equal(b.x));
  EXPECT_EQ(a.k, 3);
  EXPECT_TRUE(step.how().empty());
}

}  // namespace
}  // namespace penumbra
