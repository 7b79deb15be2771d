#include "theory/mode_odds.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "priors/gaussian_mixture.h"
#include "support/numbers.h"

namespace penumbra::theory {
namespace {

using test::noise;

constexpr int64_t side = 16, n = side * side;

struct Modes {
  std::shared_ptr<const GaussianMixture> mixture;
  Tensor samples;
  std::vector<int64_t> label;

  ScoreField score() const {
    return [this](const Tensor& x) { return mixture->score(x, 0); };
  }
};

/// Images with variances from 1e-3 to about 1, modes far apart with log-odds u, eigenvalues of the second times
/// exp(tau N); `counts` exact samples of each mode.
Modes images(double u, double tau, std::vector<int64_t> counts, uint64_t seed = 1) {
  const auto basis = std::get<0>(at::linalg_qr(noise(seed, {n, n})));
  const auto variances = 1e-3 + at::arange(1, n + 1, at::kDouble).pow(-1.5);
  const auto matrix = [&](const Tensor& l) { return Covariance::full((basis * l).mm(basis.t())); };
  const auto other = variances * (tau * noise(seed + 100, {n})).exp();
  Modes made;
  made.mixture = std::make_shared<GaussianMixture>(
      Shape{1, side, side},
      std::vector<Component>{
          {1, at::full({n}, -1, at::kDouble), matrix(variances)},
          {std::exp(u), at::full({n}, 1, at::kDouble) + 0.1 * noise(seed + 50, {n}), matrix(other)}});
  std::vector<Tensor> parts;
  for (size_t j = 0; j < counts.size(); ++j) {
    const auto& mode = made.mixture->components()[j];
    parts.push_back(mode.mean + mode.covariance->colour(noise(seed + 200 + j, {counts[j], n})));
    made.label.insert(made.label.end(), counts[j], static_cast<int64_t>(j));
  }
  made.samples = at::cat(parts).reshape({-1, 1, side, side});
  return made;
}

/// log(Z2 / Z1) whichever of the two is the reference.
double log_odds(const ModeOdds& odds) { return odds.log_odds[1] - odds.log_odds[0]; }

// Equal covariances: every work is u itself, however few samples there are and however unequal their numbers.
TEST(ModeOdds, OfEqualShapesAreExact) {
  for (const double u : {-1.0, 3.0, 11.0, 20.0}) {
    const auto made = images(u, 0, {70, 20});
    const auto odds = mode_odds(made.score(), made.samples, made.label);
    EXPECT_TRUE(odds.trusted) << odds.doubt;
    EXPECT_NEAR(log_odds(odds), u, 0.01);
    EXPECT_EQ(odds.pairs[0].map, MapKind::summits);
    EXPECT_LT(odds.pairs[0].loop_rms, 0.01);
    EXPECT_NEAR(odds.weight[1], 1 / (1 + std::exp(-u)), 0.003);
  }
}

// 256 eigenvalues that differ by exp(tau N): the gap is about 128 tau^2 = 0.3, 1.3 and 5 nats.
TEST(ModeOdds, OfUnequalShapesAreWithinThreeTenthsOfANat) {
  for (const auto& [tau, u] : {std::pair{0.05, 20.0}, {0.1, -1.0}, {0.2, 8.0}}) {
    const auto made = images(u, tau, {250, 180});
    const auto odds = mode_odds(made.score(), made.samples, made.label, {.samples = 200});
    EXPECT_TRUE(odds.trusted) << odds.doubt;
    EXPECT_NEAR(log_odds(odds), u, 0.3) << tau << ", error " << odds.pairs[0].bennett.error();
    EXPECT_LT(std::abs(log_odds(odds) - u), 4 * odds.pairs[0].bennett.error() + 0.01) << tau;
  }
}

TEST(ModeOdds, AScaleForEachPixelIsTakenWhereItHelps) {
  const auto wide = Covariance::diagonal(at::full({n}, 0.09, at::kDouble));
  const auto narrow = Covariance::diagonal(at::full({n}, 0.04, at::kDouble));
  Modes made;
  made.mixture = std::make_shared<GaussianMixture>(
      Shape{1, side, side},
      std::vector<Component>{{0.2, at::zeros({n}, at::kDouble), wide}, {0.8, at::full({n}, 3, at::kDouble), narrow}});
  made.samples = at::cat({0.3 * noise(1, {100, n}), 3 + 0.2 * noise(2, {100, n})}).reshape({-1, 1, side, side});
  made.label.assign(200, 0);
  std::fill(made.label.begin() + 100, made.label.end(), 1);
  const auto odds = mode_odds(made.score(), made.samples, made.label);
  EXPECT_EQ(odds.pairs[0].map, MapKind::scaling);
  EXPECT_TRUE(odds.trusted) << odds.doubt;
  EXPECT_NEAR(log_odds(odds), std::log(4.0), 0.3);
}

TEST(ModeOdds, OfThreeModes) {
  const auto one = Covariance::diagonal(at::ones({2}, at::kDouble));
  const GaussianMixture mixture({1, 1, 2}, {{0.1, at::tensor({0.0, 0.0}, at::kDouble), one},
                                            {0.6, at::tensor({30.0, 0.0}, at::kDouble), one},
                                            {0.3, at::tensor({0.0, 25.0}, at::kDouble), one}});
  std::vector<Tensor> parts;
  std::vector<int64_t> label;
  for (int64_t j = 0; j < 3; ++j) {
    parts.push_back(mixture.components()[j].mean + noise(j, {40 + 10 * j, 2}));
    label.insert(label.end(), 40 + 10 * j, j);
  }
  const auto odds =
      mode_odds([&](const Tensor& x) { return mixture.score(x, 0); }, at::cat(parts).reshape({-1, 1, 1, 2}), label);
  EXPECT_EQ(odds.reference, 2);
  ASSERT_TRUE(odds.trusted) << odds.doubt;
  for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(odds.weight[j], mixture.components()[j].weight, 1e-3);
  const auto weights = odds.sample_weights(label);
  EXPECT_NEAR(weights[0], 0.1 / 40, 1e-4);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
}

// Clustering that parts one Gaussian of two in halves: both climbs end at one summit, and the halves share its weight.
TEST(ModeOdds, PartsOfOneModeShareItsWeight) {
  auto made = images(2, 0, {60, 40});
  for (int64_t i = 0; i < 60; ++i)
    if (made.samples[i].sum().item<double>() > -n) made.label[i] = 2;
  const auto upper = std::count(made.label.begin(), made.label.end(), 2);
  const auto odds = mode_odds(made.score(), made.samples, made.label);
  EXPECT_EQ(odds.same_as, (std::vector<int64_t>{0, 1, 0}));
  ASSERT_EQ(odds.pairs.size(), 1u);
  EXPECT_TRUE(odds.trusted) << odds.doubt;
  EXPECT_NEAR(odds.weight[0] + odds.weight[2], 1 / (1 + std::exp(2.0)), 0.003);
  EXPECT_NEAR(odds.weight[2] / (odds.weight[0] + odds.weight[2]), static_cast<double>(upper) / 60, 1e-9);
}

TEST(ModeOdds, PartsOfOneModeAloneHaveNoOdds) {
  auto made = images(-60, 0, {60, 2});  // the second mode's weight is nothing
  made.samples = made.samples.narrow(0, 0, 60);
  made.label.assign(60, 0);
  for (int64_t i = 0; i < 60; ++i) made.label[i] = made.samples[i].sum().item<double>() > -n ? 1 : 0;
  const auto odds = mode_odds(made.score(), made.samples, made.label);
  EXPECT_FALSE(odds.trusted);
  EXPECT_NE(odds.doubt.find("one summit"), std::string::npos) << odds.doubt;
  EXPECT_NEAR(odds.weight[1], std::count(made.label.begin(), made.label.end(), 1) / 60.0, 1e-12);
}

/// Two modes that are one another turned by 180 degrees, of covariances that no translation carries over: the works of
/// the turn are the log-odds themselves.
TEST(ModeOdds, ATurnedModeIsMappedByTheTurn) {
  constexpr double u = 2;
  auto made = images(0, 0, {40});
  const auto covariance = made.mixture->components()[0].covariance;  // the mixture itself is replaced below
  const auto reversed = at::arange(n - 1, -1, -1, at::kLong);
  const auto mean = at::full({n}, -1, at::kDouble) + 2 * at::arange(n, at::kDouble) / n;
  const auto turned = covariance->dense().index_select(0, reversed).index_select(1, reversed);
  made.mixture = std::make_shared<GaussianMixture>(
      Shape{1, side, side},
      std::vector<Component>{{1, mean, covariance},
                             {std::exp(u), mean.index_select(0, reversed), Covariance::full(turned)}});
  const auto spread = [&](uint64_t seed) { return covariance->colour(noise(seed, {40, n})); };
  const auto one = (mean + spread(1)).view({-1, 1, side, side}), two = (mean + spread(2)).view({-1, 1, side, side});
  const auto samples = at::cat({one, two.flip({-2, -1})});
  std::vector<int64_t> label(80, 0);
  std::fill(label.begin() + 40, label.end(), 1);
  const auto plain = mode_odds(made.score(), samples, label);
  EXPECT_FALSE(plain.trusted) << "no translation or scaling does it";
  const auto odds = mode_odds(made.score(), samples, label, {.turn = [](const Tensor& x) { return x.flip({-2, -1}); }});
  EXPECT_TRUE(odds.trusted) << odds.doubt;
  EXPECT_EQ(odds.pairs.at(0).map, MapKind::turn);
  EXPECT_NEAR(log_odds(odds), u, 0.01);  // the quadrature's tolerance, twice
}

/// The score of no density: a rotation of all pairs of pixels on top of the gradient.
TEST(ModeOdds, ARotationIsCaughtByClosedLoops) {
  const auto made = images(2, 0, {60, 40});
  const auto turn = [](const Tensor& x) { return x.roll({1}, {-1}) - x.roll({-1}, {-1}); };
  const ScoreField score = [&](const Tensor& x) { return made.mixture->score(x, 0) + 3 * turn(x); };
  const auto odds = mode_odds(score, made.samples, made.label);
  EXPECT_FALSE(odds.trusted);
  EXPECT_GT(odds.pairs[0].loop_rms, 0.5);
  EXPECT_NE(odds.doubt.find("closed loops"), std::string::npos) << odds.doubt;
  EXPECT_NEAR(odds.weight[0], 0.6, 1e-12);
  EXPECT_NEAR(odds.weight_error[0], std::sqrt(0.6 * 0.4 / 100), 1e-12);
}

// Variances that differ by factors of e in all directions: no scale for each pixel carries one mode onto the other.
TEST(ModeOdds, ModesOfOtherShapesFallBackToCounts) {
  const auto made = images(2, 1.0, {30, 10});
  const auto odds = mode_odds(made.score(), made.samples, made.label);
  EXPECT_FALSE(odds.trusted);
  EXPECT_FALSE(odds.doubt.empty());
  EXPECT_NEAR(odds.weight[1], 0.25, 1e-12);
}

TEST(ModeOdds, AScoreThatIsNotFiniteFallsBackToCounts) {
  const auto made = images(2, 0, {20, 20});
  const ScoreField score = [&](const Tensor& x) {
    const auto between = x.flatten(1).mean(1).abs() < 0.4;
    return at::where(per_chain(between, x), at::full({}, NAN, at::kDouble), made.mixture->score(x, 0));
  };
  const auto odds = mode_odds(score, made.samples, made.label);
  EXPECT_FALSE(odds.trusted);
  EXPECT_NEAR(odds.weight[0], 0.5, 1e-12);
}

TEST(ModeOdds, RefusesWhatHasNoOdds) {
  const auto made = images(0, 0, {5, 5});
  EXPECT_THROW(mode_odds(made.score(), made.samples, std::vector<int64_t>(10, 0)), InputError);
  EXPECT_THROW(mode_odds(made.score(), made.samples, {0, 1}), InputError);
  std::vector<int64_t> alone(10, 0);
  alone[3] = 1;
  EXPECT_THROW(mode_odds(made.score(), made.samples, alone), InputError);
}

}  // namespace
}  // namespace penumbra::theory
