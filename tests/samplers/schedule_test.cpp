#include "samplers/schedule.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "samplers/pmc.h"
#include "support/paths.h"

namespace penumbra {
namespace {

TEST(Schedule, GeometricAgreesWithEveryExperimentOfThePaper) {
  for (const auto& c : test::vectors("schedules.json")["cases"]) {
    const GeometricSchedule schedule(
        {.sigma_0 = c["sigma0"], .sigma_min = c["sigma_min"], .xi = c["xi"], .alpha_0 = c["alpha0"]});
    for (size_t i = 0; i < c["k"].size(); ++i) {
      const auto [sigma, alpha] = schedule.at(c["k"][i]);
      EXPECT_NEAR(sigma, c["sigma"][i].get<double>(), 1e-12 * c["sigma"][i].get<double>()) << c["name"];
      EXPECT_NEAR(alpha, c["alpha"][i].get<double>(), 1e-12 * c["alpha"][i].get<double>()) << c["name"];
    }
  }
}

TEST(Schedule, KnowsWhenItHasSettled) {
  const auto settled = [](std::shared_ptr<const Schedule> schedule, int64_t steps) {
    return settled_at(AnnealedPmc({}, 0, {.gamma = 1, .schedule = std::move(schedule)}), steps);
  };
  const auto geometric = std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = 8, .sigma_min = 1, .xi = 0.5, .alpha_0 = 1});
  EXPECT_EQ(settled(geometric, 100), 3);
  EXPECT_EQ(settled(geometric, 2), 1);
  EXPECT_EQ(settled(std::make_shared<ConstantSchedule>(Annealing{0.1, 1}), 100), 0);
}

TEST(Schedule, RefusesAFinalWeightAboveOneUnlessAllowed) {
  const auto text = "{sigma_0: 10, sigma_min: 0.4, xi: 0.975, alpha_0: 10}";
  EXPECT_THROW(make_schedule(Settings::from_text(text, "test"), 10), InputError);
  const auto allowed = "{sigma_0: 10, sigma_min: 0.4, xi: 0.975, alpha_0: 10, allow_final_weight: true}";
  EXPECT_NEAR(make_schedule(Settings::from_text(allowed, "test"), 10)->at(1000).alpha, 1.6, 1e-12);
}

TEST(Schedule, PowerFallsFromFirstToLastSigmaAndStays) {
  const auto schedule = make_schedule(
      Settings::from_text("{kind: power, sigma_0: 50, sigma_min: 0.1, rho: 7, anneal_steps: 20}", "test"), 40);
  EXPECT_NEAR(schedule->at(0).sigma, 50, 1e-12 * 50);
  for (int k = 0; k < 20; ++k) EXPECT_GT(schedule->at(k).sigma, schedule->at(k + 1).sigma);
  EXPECT_EQ(schedule->at(20).sigma, 0.1);
  EXPECT_EQ(schedule->at(39).sigma, 0.1);
  EXPECT_EQ(schedule->at(39).alpha, 1);
}

TEST(Schedule, AlphaFallsAsThePowerOfSigmaAndEndsAtOne) {
  const auto schedule = make_schedule(
      Settings::from_text("{sigma_0: 10, sigma_min: 0.1, xi: 0.5, alpha_0: 40, alpha_power: 3}", "test"), 20);
  // alpha_0 sigma^2 sigma / sigma_0: 4000 at 10, 4000 / 8 at 5; 1 from 0.63 on.
  EXPECT_NEAR(schedule->at(0).alpha, 4000, 1e-9);
  EXPECT_NEAR(schedule->at(1).alpha, 500, 1e-9);
  EXPECT_GT(schedule->at(3).alpha, 1);
  EXPECT_EQ(schedule->at(4).alpha, 1);
  // At most what ends at one: 1 / (0.01 * 0.01).
  EXPECT_THROW(
      make_schedule(Settings::from_text("{sigma_0: 10, sigma_min: 0.1, xi: 0.5, alpha_0: 1e5, alpha_power: 3}", "test"),
                    20),
      InputError);
  const auto power = make_schedule(
      Settings::from_text("{kind: power, sigma_0: 10, sigma_min: 0.1, anneal_steps: 9, alpha_power: 3}", "test"), 20);
  EXPECT_NEAR(power->at(0).alpha, 1e4 * 100, 1e-6);
  EXPECT_NEAR(power->at(9).alpha, 1, 1e-9);
}

}  // namespace
}  // namespace penumbra
