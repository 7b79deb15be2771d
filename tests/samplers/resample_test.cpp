/// `resample` of apmc-*: modes that no chain can cross get the weights that the data give them.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "samplers/sampler.h"
#include "support/message.h"

namespace penumbra {
namespace {

const Shape plane{1, 1, 2};

/// Two modes of equal prior weight, 40 apart, SD 1. The datum, one number of SD 4, is twice as near to the first.
struct TwoModes {
  std::shared_ptr<const GaussianMixture> prior = std::make_shared<GaussianMixture>(
      plane, std::vector<Component>{
                 {0.5, at::tensor({-20.0, 0.0}, at::kDouble), Covariance::diagonal(at::ones({2}, at::kDouble))},
                 {0.5, at::tensor({20.0, 0.0}, at::kDouble), Covariance::diagonal(at::ones({2}, at::kDouble))}});
  Tensor A = at::tensor({0.2, 0.1}, at::kDouble).view({1, 2}), y = at::tensor({-0.4}, at::kDouble);
  Posterior posterior{std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(plane, A), y, 1.5), prior};
  /// Of the first mode.
  double exact = condition(*prior, A, y, 1.5).posterior->components()[0].weight;
};

std::unique_ptr<Sampler> make(const Posterior& posterior, const std::string& more, int64_t steps, uint64_t seed = 3) {
  auto settings = Settings::from_text(
      "{step_size: 0.2, noise: warm, schedule: {sigma_0: 60, sigma_min: 0.1, xi: 0.98, alpha_0: 1}" + more + "}",
      "test.yaml");
  auto made = find_named(sampler_entries(), "apmc-red")->make(settings, {posterior, seed, steps});
  settings.finish();
  return made;
}

ChainState start(int64_t chains) {
  return {60 * normal({3, 0, 0}, Stream::start, at::empty({chains, 1, 1, 2}, at::kDouble))};
}

/// The share of the first mode after as many steps.
double first_share(const Sampler& sampler, int64_t chains, int64_t steps) {
  const c10::NoGradGuard no_gradients;
  auto state = start(chains);
  while (state.k < steps) sampler.step(state);
  return flat(state.x).select(1, 0).lt(0).to(at::kDouble).mean().item<double>();
}

/// Each tolerance is four standard errors of so many chains.
TEST(Resample, ModesHaveTheWeightsOfTheDataAndNotOfTheStart) {
  const TwoModes problem;
  ASSERT_NEAR(problem.exact, 0.80, 0.01);
  constexpr int64_t chains = 1500, steps = 350;
  EXPECT_NEAR(first_share(*make(problem.posterior, "", steps), chains, steps), 0.5, 0.052) << "as the paper's";
  EXPECT_NEAR(first_share(*make(problem.posterior, ", resample: 0.5", steps), chains, steps), problem.exact, 0.042);
}

TEST(Resample, TheStateIsWhole) {
  const c10::NoGradGuard no_gradients;
  const TwoModes problem;
  const auto sampler = make(problem.posterior, ", resample: 0.9", 100);
  auto whole = start(20);
  while (whole.k < 93) sampler->step(whole);
  EXPECT_EQ(whole.shared.numel(), sampler->shared_count(20));
  ChainState copy{whole.x.clone(), whole.k, whole.first_chain, whole.shared.clone()};
  const auto fresh = make(problem.posterior, ", resample: 0.9", 100);
  while (whole.k < 300) sampler->step(whole);
  while (copy.k < 300) fresh->step(copy);
  EXPECT_TRUE(whole.x.equal(copy.x));
  EXPECT_TRUE(sampler->couples_chains());
  EXPECT_FALSE(sampler->is_the_papers());
}

TEST(Resample, IsAShare) {
  const TwoModes problem;
  EXPECT_NE(test::message_of<InputError>([&] { make(problem.posterior, ", resample: 2", 10); }).find("resample"),
            std::string::npos);
}

}  // namespace
}  // namespace penumbra
