/// Closure phases and amplitudes: closed forms, the graph's counts, and what stations cannot change.
#include "vlbi/closures.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "support/message.h"
#include "vlbi/golden.h"
#include "vlbi/independent_rows.h"

namespace penumbra::vlbi {
namespace {

using std::numbers::pi;

/// Every visibility different and none special.
Observation random_observation(int stations, int times) {
  auto observation = test::synthetic_observation(stations, times);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (auto& visibility : observation.visibilities) {
    visibility.value = {normal(random), normal(random)};
    visibility.sd = 0.01 * std::exp(normal(random));
  }
  return observation;
}

/// V_ab -> g_a g_b exp(-i (phi_a - phi_b)) V_ab, other errors at every time; the SDs scale as the signal does.
Observation corrupted(Observation observation) {
  for (auto& visibility : observation.visibilities) {
    const auto gain = [&](int station) { return std::exp(std::sin(3.1 * station + 1.7 * visibility.time)); };
    const auto phase = [&](int station) { return 9 * std::sin(1.3 * station * station + 2.9 * visibility.time); };
    const double size = gain(visibility.first) * gain(visibility.second);
    visibility.value *= std::polar(size, phase(visibility.second) - phase(visibility.first));
    visibility.sd *= size;
  }
  return observation;
}

void remove_baseline(Observation& observation, int first, int second) {
  std::erase_if(observation.visibilities, [=](const Visibility& v) { return v.first == first && v.second == second; });
}

TEST(Closures, ATriangleAndAQuadrangleByHand) {
  auto observation = test::synthetic_observation(4, 1);
  auto& rows = observation.visibilities;  // 01 02 03 12 13 23
  const std::vector<double> phases{0.3, 1.1, -0.4, 2.9, 0.7, -1.2};
  for (size_t k = 0; k < rows.size(); ++k) {
    rows[k].value = std::polar(1.0 + static_cast<double>(k), phases[k]);
    rows[k].sd = 0.1 * (1 + static_cast<double>(k));
  }
  const auto closures = form_closures(observation, {.rule = ClosureRule::ehtim_min});
  // (0,1,2), (0,1,3), (0,2,3); every leg has sd/|V| = 0.1.
  ASSERT_EQ(closures.phases.size(), 3u);
  EXPECT_NEAR(closures.phases[0].value, 0.3 + 2.9 - 1.1, 1e-15);
  EXPECT_NEAR(closures.phases[1].value, 0.3 + 0.7 + 0.4, 1e-15);
  EXPECT_NEAR(closures.phases[2].value, 1.1 - 1.2 + 0.4, 1e-15);
  EXPECT_NEAR(closures.phases[0].sd, 0.1 * std::sqrt(3), 1e-15);
  // (0,3,1,2): |V03| |V12| / (|V02| |V13|), and (0,3,2,1): |V03| |V21| / (|V01| |V23|).
  ASSERT_EQ(closures.amplitudes.size(), 2u);
  EXPECT_NEAR(closures.amplitudes[0].value, std::log(3.0 * 4 / (2.0 * 5)), 1e-15);
  EXPECT_NEAR(closures.amplitudes[1].value, std::log(3.0 * 4 / (1.0 * 6)), 1e-15);
  EXPECT_NEAR(closures.amplitudes[0].sd, 0.2, 1e-15);
  // Debiased, every |V| falls by sqrt(0.99) and every log rises by 0.005/0.99: both cancel where all legs are alike.
  const auto debiased = form_closures(observation, {.rule = ClosureRule::ehtim_min, .debias = true});
  EXPECT_NEAR(debiased.amplitudes[0].value, closures.amplitudes[0].value, 1e-15);
  EXPECT_NEAR(debiased.amplitudes[0].sd, 0.2 / std::sqrt(0.99), 1e-15);
  rows[2].sd = 9;  // |V03| = 3 is below its noise: 9 takes its place
  const auto noisy = form_closures(observation, {.rule = ClosureRule::ehtim_min, .debias = true});
  EXPECT_NEAR(noisy.amplitudes[0].value, std::log(9.0 * 4 / (2.0 * 5)) - 0.5 * std::log(0.99) + 0.5 * (1 - 0.01 / 0.99),
              1e-14);
}

TEST(Closures, APhaseStaysWithinOneTurn) {
  auto observation = test::synthetic_observation(3, 1);
  for (auto& visibility : observation.visibilities) visibility.value = std::polar(1.0, 2.5);
  observation.visibilities[1].value = std::polar(1.0, -2.5);  // 02: its leg is 20
  const auto phase = form_closures(observation).phases.at(0).value;
  EXPECT_NEAR(phase, 7.5 - 2 * pi, 1e-14);
}

TEST(Closures, StationsCannotChangeThem) {
  const auto clean = random_observation(7, 4), dirty = corrupted(clean);
  for (const auto rule : {ClosureRule::ehtim_min, ClosureRule::ehtim_max, ClosureRule::complete}) {
    const auto a = form_closures(clean, {.rule = rule}), b = form_closures(dirty, {.rule = rule});
    ASSERT_EQ(a.phases.size(), b.phases.size());
    ASSERT_EQ(a.amplitudes.size(), b.amplitudes.size());
    for (size_t i = 0; i < a.phases.size(); ++i) {
      EXPECT_LT(std::abs(std::remainder(a.phases[i].value - b.phases[i].value, 2 * pi)), 1e-12);
      EXPECT_NEAR(a.phases[i].sd, b.phases[i].sd, 1e-12 * a.phases[i].sd);
    }
    for (size_t i = 0; i < a.amplitudes.size(); ++i) EXPECT_NEAR(a.amplitudes[i].value, b.amplitudes[i].value, 1e-12);
  }
}

/// M stations that all see each other: (M-1)(M-2)/2 and M(M-3)/2 are independent.
TEST(Closures, AFullArrayHasAsManyAsTheFormulas) {
  for (const int M : {2, 3, 4, 5, 8}) {
    const auto observation = random_observation(M, 2);
    const auto phases = 2 * static_cast<size_t>((M - 1) * (M - 2) / 2),
               amplitudes = 2 * static_cast<size_t>(std::max(0, M * (M - 3) / 2));
    for (const auto rule : {ClosureRule::ehtim_min, ClosureRule::complete}) {
      const auto closures = form_closures(observation, {.rule = rule});
      EXPECT_EQ(closures.phases.size(), phases) << M;
      EXPECT_EQ(closures.amplitudes.size(), amplitudes) << M;
    }
    const auto counts = independent_closures(observation);
    EXPECT_EQ(counts.phases, static_cast<int64_t>(phases));
    EXPECT_EQ(counts.amplitudes, static_cast<int64_t>(amplitudes));
  }
}

TEST(Closures, AMissingBaselineCostsTheCompleteSetOneOfEach) {
  auto observation = random_observation(6, 1);
  remove_baseline(observation, 0, 1);
  remove_baseline(observation, 0, 3);
  const auto minimal = form_closures(observation, {.rule = ClosureRule::ehtim_min});
  const auto complete = form_closures(observation);
  EXPECT_EQ(complete.phases.size(), 10u - 2);
  EXPECT_EQ(complete.amplitudes.size(), 9u - 2);
  EXPECT_EQ(minimal.phases.size(), 3u);
  EXPECT_LT(minimal.amplitudes.size(), 7u);
}

/// A square without diagonals is a cycle that no triangle fills, and one closure amplitude.
TEST(Closures, ASquareWithoutDiagonals) {
  auto observation = random_observation(4, 1);
  remove_baseline(observation, 0, 2);
  remove_baseline(observation, 1, 3);
  const auto counts = independent_closures(observation);
  EXPECT_EQ(counts.phases, 1);
  EXPECT_EQ(counts.amplitudes, 1);
  const auto closures = form_closures(observation);
  EXPECT_EQ(closures.phases.size(), 0u);
  EXPECT_EQ(closures.amplitudes.size(), 1u);
}

TEST(Closures, ACompleteSetIsTheQuietestOfAll) {
  // Of the four triangles of four stations any three are a basis: the noisiest must be left out.
  const auto observation = random_observation(4, 1);
  const auto all = form_closures(observation, {.rule = ClosureRule::ehtim_max}).phases;
  double noisiest = 0, total = 0, kept = 0;
  for (const auto& phase : all) noisiest = std::max(noisiest, phase.sd), total += phase.sd;
  for (const auto& phase : form_closures(observation).phases) kept += phase.sd;
  EXPECT_NEAR(kept, total - noisiest, 1e-14);
}

/// 20 stations at a time: 190 baselines, 14535 quadrangles.
TEST(Closures, ALargeArray) {
  const auto closures = form_closures(random_observation(20, 1));
  EXPECT_EQ(closures.phases.size(), 171u);
  EXPECT_EQ(closures.amplitudes.size(), 170u);
  const auto message = test::message_of([] { form_closures(test::synthetic_observation(41, 1)); });
  EXPECT_TRUE(test::contains(message, "at most 40 stations at one time, found 41")) << message;
}

TEST(Closures, WhatHasNoPhaseClosesNothing) {
  auto observation = random_observation(3, 1);
  observation.visibilities[1].value = 0;
  EXPECT_TRUE(form_closures(observation).phases.empty());
  observation.visibilities[1].value = {NAN, 0};
  EXPECT_TRUE(form_closures(observation).phases.empty());
  EXPECT_TRUE(form_closures({}).phases.empty());
}

TEST(Closures, ABaselineTwiceAtATimeIsRefused) {
  auto observation = random_observation(3, 1);
  observation.visibilities.push_back(observation.visibilities[0]);
  const auto message = test::message_of([&] { form_closures(observation); });
  EXPECT_TRUE(test::contains(message, "baseline 0-1")) << message;
}

TEST(IndependentRows, TellsASumFromSomethingNew) {
  using Entries = std::vector<std::pair<size_t, int>>;
  IndependentRows rows(4);
  EXPECT_TRUE(rows.add(Entries{{0, 1}, {1, -1}}));
  EXPECT_TRUE(rows.add(Entries{{1, 1}, {2, -1}}));
  EXPECT_FALSE(rows.add(Entries{{0, 1}, {2, -1}}));
  EXPECT_TRUE(rows.add(Entries{{0, 1}, {2, 1}}));
  EXPECT_FALSE(rows.add(Entries{{2, 5}}));
  EXPECT_EQ(rows.rank(), 3u);
}

}  // namespace
}  // namespace penumbra::vlbi
