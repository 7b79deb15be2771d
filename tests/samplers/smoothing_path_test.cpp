/// smc and replica: ratios along the prior's smoothing, exact laws, and states that are whole.
#include "samplers/smoothing_path.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "run/chain_run.h"
#include "run/start.h"
#include "samplers/sampler.h"
#include "support/message.h"

namespace penumbra {
namespace {

using test::contains;
using test::message_of;

const Shape shape{1, 1, 2};
constexpr double beta = 1;

Tensor pair(double a, double b) { return at::tensor({a, b}, at::kDouble); }

/// A plane of two modes at -+(d, d), of variance 9 and unequal weights, seen through a weak measurement.
struct Plane {
  explicit Plane(double d, double w = 0.3)
      : prior(std::make_shared<GaussianMixture>(
            shape, std::vector<Component>{{w, pair(-d, -d), Covariance::diagonal(pair(9, 9))},
                                          {1 - w, pair(d, d), Covariance::diagonal(pair(9, 4))}})),
        posterior{std::make_shared<GaussianLikelihood>(std::make_shared<DenseModel>(shape, A), y, beta), prior},
        exact(condition(*prior, A, y, beta).posterior) {}

  std::unique_ptr<Sampler> sampler(const std::string& kind, const std::string& options, int64_t steps,
                                   uint64_t seed = 7) const {
    auto settings = Settings::from_text(options, "test.yaml");
    auto made = find_named(sampler_entries(), kind)->make(settings, {posterior, seed, steps});
    settings.finish();
    return made;
  }

  Tensor A = at::tensor({0.2, -0.1, 0.05, 0.3}, at::kDouble).view({2, 2});
  Tensor y = pair(0.25, -0.3);
  std::shared_ptr<const GaussianMixture> prior;
  Posterior posterior;
  std::shared_ptr<const GaussianMixture> exact;
};

ChainState start(const Sampler& sampler, int64_t chains, uint64_t seed = 7) {
  const auto like = at::empty({chains, 1, 1, 2}, at::kDouble);
  return {*sampler.start_sd() * normal({seed, 0, 0}, Stream::start, like)};
}

Tensor run_path(const Sampler& sampler, int64_t chains, int64_t steps, uint64_t seed = 7) {
  const c10::NoGradGuard no_gradients;
  auto state = start(sampler, chains, seed);
  while (state.k < steps) sampler.step(state);
  return flat(state.x);
}

/// The share of the first mode.
double first_share(const Tensor& x) { return x.sum(1).lt(0).to(at::kDouble).mean().item<double>(); }

/// 8 nodes on a way that changes mode smoothly: to 1e-3 where the density says the same.
TEST(SmoothingPath, LineIntegralsAreRatiosOfDensities) {
  const Plane plane(4);
  SmoothingPath::Options options{.sigma_0 = 20, .sigma_min = 0, .step_size = 1, .nodes = 24};
  const SmoothingPath exact(plane.posterior, options);
  options.densities = false;
  const SmoothingPath integrated(plane.posterior, options);
  const auto x = 5 * normal({1, 0, 0}, Stream::probe, at::empty({50, 1, 1, 2}, at::kDouble)),
             b = 5 * normal({2, 0, 0}, Stream::probe, x);
  const auto difference = exact.log_ratio(x, 3, 1) - integrated.log_ratio(x, 3, 1);
  EXPECT_LT((difference - difference.mean()).abs().max().item<double>(), 1e-4) << "but for one constant";
  EXPECT_GT(exact.log_ratio(x, 3, 1).std(true).item<double>(), 0.1);
  const auto swap = exact.swap_log_ratio(x, 1, b, 3);
  EXPECT_LT((swap - integrated.swap_log_ratio(x, 1, b, 3)).abs().max().item<double>(), 1e-4);
  // The same exchange the other way round, and twice.
  EXPECT_LT((swap - integrated.swap_log_ratio(b, 3, x, 1)).abs().max().item<double>(), 1e-4);
  EXPECT_LT((swap + integrated.swap_log_ratio(b, 1, x, 3)).abs().max().item<double>(), 1e-4);
}

/// A way between modes 51 apart of SD 3 changes mode within 1/280 of it.
TEST(SmoothingPath, TooFewNodesAreWrongBetweenModes) {
  const Plane plane(18);
  const auto x = plane.prior->draw(100, {3, 0, 0})->view({100, 1, 1, 2});
  const auto error = [&](int64_t nodes) {
    SmoothingPath::Options options{.sigma_0 = 20, .sigma_min = 0, .step_size = 1, .nodes = nodes};
    const SmoothingPath exact(plane.posterior, options);
    options.densities = false;
    const auto difference = exact.log_ratio(x, 2, 1) - SmoothingPath(plane.posterior, options).log_ratio(x, 2, 1);
    return (difference - difference.mean()).abs().max().item<double>();
  };
  EXPECT_GT(error(8), 5);
  EXPECT_LT(error(64), 1);
}

/// Exchanges and moves leave the joint law of all levels as it is: from exact draws on, level 0 keeps its weights and
/// moments.
TEST(Replica, KeepsTheStationaryLaw) {
  const c10::NoGradGuard no_gradients;
  const Plane plane(6);
  constexpr int64_t chains = 4000, levels = 4;
  const auto made = plane.sampler("replica", "{sigma_0: 12, sigma_min: 0.5, step_size: 1, levels: 4}", 1);
  ASSERT_EQ(made->shared_count(chains), levels + (levels - 1) * chains * 2);
  ChainState state;
  std::vector<Tensor> parts{at::full({levels}, 1.0, at::kDouble)};
  Tensor before;
  for (int64_t l = 0; l < levels; ++l) {
    const double sigma = 0.5 * std::pow(12 / 0.5, static_cast<double>(l) / 3);
    std::vector<Component> smoothed;
    for (const auto& c : plane.prior->components())
      smoothed.push_back(
          {c.weight, c.mean, Covariance::full(c.covariance->dense() + sigma * sigma * at::eye(2, at::kDouble))});
    const auto own = condition(GaussianMixture(shape, smoothed), plane.A, plane.y, beta).posterior;
    const auto x = own->draw(chains, {11, 0, l})->view({chains, 1, 1, 2});
    if (l == 0)
      state.x = x, before = flat(x);
    else
      parts.push_back(x.flatten());
  }
  state.shared = at::cat(parts);
  double changed = 0;
  for (int k = 0; k < 40; ++k) made->step(state);
  const auto after = flat(state.x);
  changed = after.sum(1).lt(0).ne(before.sum(1).lt(0)).to(at::kDouble).mean().item<double>();
  EXPECT_GT(changed, 0.1) << "or nothing was tested";
  // Two sets of 4000 draws: four standard errors of their difference.
  const double w = first_share(before), error = std::sqrt(2 * w * (1 - w) / chains);
  EXPECT_NEAR(first_share(after), w, 4 * error);
  for (const int64_t i : {0, 1}) {
    const auto a = before.select(1, i), b = after.select(1, i);
    const double sd = a.std(true).item<double>();
    EXPECT_NEAR(a.mean().item<double>(), b.mean().item<double>(), 4 * sd * std::sqrt(2.0 / chains));
    EXPECT_NEAR(b.std(true).item<double>() / sd, 1, 4 * std::sqrt(1.0 / chains));
  }
}

/// A Gaussian: mean and variance of the posterior at sigma_min within four standard errors.
void expect_gaussian(const std::string& kind, const std::string& options, int64_t chains, int64_t steps) {
  Plane plane(0);
  plane.prior = std::make_shared<GaussianMixture>(
      shape, std::vector<Component>{{1, pair(2, -1), Covariance::diagonal(pair(9, 4))}});
  plane.posterior.prior = plane.prior;
  const auto x = run_path(*plane.sampler(kind, options, steps), chains, steps);
  const auto exact = condition(*plane.prior, plane.A, plane.y, beta).posterior;
  const auto mean = exact->mean(), variance = exact->dense_covariance().diagonal();
  const auto n = static_cast<double>(chains);
  for (const int64_t i : {0, 1}) {
    const double v = variance[i].item<double>();
    EXPECT_NEAR(x.select(1, i).mean().item<double>(), mean[i].item<double>(), 4 * std::sqrt(v / n)) << kind;
    EXPECT_NEAR(x.select(1, i).var(true).item<double>() / v, 1, 4 * std::sqrt(2 / n)) << kind;
  }
}

TEST(Smc, OfAGaussianIsExact) { expect_gaussian("smc", "{sigma_0: 30, sigma_min: 0, step_size: 2}", 2000, 200); }

TEST(Replica, OfAGaussianIsExact) {
  expect_gaussian("replica", "{sigma_0: 30, sigma_min: 0, step_size: 2, levels: 6}", 2000, 200);
}

/// Modes 34 SDs apart in a posterior where chains cannot cross. Weights over independent runs: their mean within three
/// of its standard errors, and a bound on the error itself, or nothing would be tested.
void expect_weights(const Plane& plane, const std::string& kind, const std::string& options, int64_t chains,
                    int64_t steps, double largest_error) {
  std::vector<double> shares;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    shares.push_back(first_share(run_path(*plane.sampler(kind, options, steps, seed), chains, steps, seed)));
  const auto each = at::tensor(shares, at::kDouble);
  const double error = each.std(true).item<double>() / std::sqrt(4.0);
  const double exact = plane.exact->components()[0].weight;
  EXPECT_NEAR(each.mean().item<double>(), exact, 3 * error) << kind << " " << options;
  EXPECT_LT(error, largest_error);
  EXPECT_GT(std::abs(exact - 0.5), 0.1) << "or an even split would do";
}

TEST(Smc, KeepsTheWeightsOfModes) {
  const Plane plane(18, 0.2);
  expect_weights(plane, "smc", "{sigma_0: 60, sigma_min: 0, step_size: 2}", 500, 300, 0.03);
}

TEST(Smc, KeepsThemWithAScoreAlone) {
  const Plane plane(18, 0.2);
  expect_weights(plane, "smc", "{sigma_0: 60, sigma_min: 0, step_size: 1, ratios: score, nodes: 64}", 200, 200, 0.05);
}

TEST(Replica, FindsTheWeightsOfModes) {
  const Plane plane(18, 0.2);
  expect_weights(plane, "replica", "{sigma_0: 60, sigma_min: 0, step_size: 2, levels: 8}", 150, 250, 0.03);
}

TEST(Replica, FindsThemWithAScoreAlone) {
  const Plane plane(6, 0.2);
  expect_weights(plane, "replica", "{sigma_0: 30, sigma_min: 0, step_size: 1, levels: 6, ratios: score, nodes: 8}", 100,
                 120, 0.04);
}

/// Levels fall, are never ahead of the schedule, and end at sigma_min before the recorded steps.
TEST(Smc, LevelsFallWithTheSchedule) {
  const c10::NoGradGuard no_gradients;
  const Plane plane(6);
  const auto made = plane.sampler("smc", "{sigma_0: 60, sigma_min: 0.3, step_size: 2, moves: 4}", 100);
  auto state = start(*made, 100);
  double last = 60;
  for (int k = 0; k < 100; ++k) {
    const double sigma = made->step(state).sigma;
    EXPECT_LE(sigma, last);
    EXPECT_GE(sigma, made->annealing(k).sigma * (1 - 1e-12));
    last = sigma;
  }
  EXPECT_DOUBLE_EQ(last, 0.3);
  EXPECT_EQ(settled_at(*made, 100), 90);
  EXPECT_EQ(state.shared.slice(0, 2).abs().max().item<double>(), 0) << "the draws have no weights";
}

/// A schedule that falls from 60 to 0.3 in one level would leave a handful of the particles.
TEST(Smc, StaysBehindAScheduleThatFallsTooFast) {
  const c10::NoGradGuard no_gradients;
  const Plane plane(18);
  const auto made = plane.sampler("smc", "{sigma_0: 60, sigma_min: 0.3, step_size: 2, moves: 10}", 30);
  auto state = start(*made, 100);
  bool behind = false;
  for (int k = 0; k < 26; ++k) behind |= made->step(state).sigma > 1.2 * made->annealing(k / 10 * 10).sigma;
  EXPECT_TRUE(behind);
}

struct Folder {
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      (std::string("penumbra-") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

void expect_resumes(const std::string& kind, const std::string& options) {
  const Plane plane(6);
  const auto made = plane.sampler(kind, options, 60);
  const RunPlan whole{.steps = 60, .chains = 20, .batch = 7, .record_from = 30};
  ChainRun straight(whole, plane.posterior, *made, start(*made, 20));
  straight.run();
  Folder folder;
  auto half = whole;
  half.steps = 23;
  ChainRun first(half, plane.posterior, *made, start(*made, 20), folder.path);
  first.run();
  ChainRun second(whole, plane.posterior, *made, start(*made, 20), folder.path);
  ASSERT_TRUE(second.resume());
  EXPECT_EQ(second.state().k, 23);
  second.run();
  EXPECT_TRUE(second.state().x.equal(straight.state().x)) << kind;
  EXPECT_TRUE(second.state().shared.equal(straight.state().shared)) << kind;
  auto others = whole;
  others.chains = 21;
  ChainRun wrong(others, plane.posterior, *made, start(*made, 21), folder.path);
  EXPECT_TRUE(contains(message_of([&] { wrong.resume(); }), "the configuration asks for"));
}

TEST(Smc, ResumesBitForBit) { expect_resumes("smc", "{sigma_0: 30, sigma_min: 0.2, step_size: 1}"); }
TEST(Replica, ResumesBitForBit) { expect_resumes("replica", "{sigma_0: 30, sigma_min: 0.2, step_size: 1, levels: 5}"); }

TEST(SmoothingPath, WrongSettingsAreNamed) {
  const Plane plane(6);
  const auto refusal = [&](const std::string& kind, const std::string& options) {
    return message_of([&] { plane.sampler(kind, options, 10); });
  };
  EXPECT_TRUE(contains(refusal("smc", "{sigma_0: 1, sigma_min: 1, step_size: 1}"), "sigma_min"));
  EXPECT_TRUE(contains(refusal("smc", "{sigma_0: 1, sigma_min: 0.1, step_size: 1, moves: 0}"), "moves"));
  EXPECT_TRUE(contains(refusal("replica", "{sigma_0: 1, sigma_min: 0.1, step_size: 1, levels: 1}"), "levels"));
  EXPECT_TRUE(contains(refusal("replica", "{sigma_0: 1, sigma_min: 0.1, step_size: 1, ratios: both}"), "ratios"));
}

}  // namespace
}  // namespace penumbra
