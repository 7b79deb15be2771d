// Adam against its formula in double precision; the gradient's limit; the course of the rate.
#include "training/adam.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra::training {
namespace {

constexpr int64_t count = 50;
constexpr int64_t steps = 20;

Tensor random_numbers(int64_t k) { return test::numbers(8, {1, count}, k)[0]; }

/// Kingma and Ba (2015), Algorithm 1, number by number.
struct Reference {
  AdamOptions o;
  std::vector<double> x, m = std::vector<double>(count), v = std::vector<double>(count);

  void step(const Tensor& gradient, int64_t k) {
    const auto g = gradient.to(at::kDouble).contiguous();
    const double norm = g.norm().item<double>();
    for (int64_t i = 0; i < count; ++i) {
      const double gi = g.data_ptr<double>()[i] * std::min(1.0, o.clip / norm);
      m[i] = o.beta1 * m[i] + (1 - o.beta1) * gi;
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * gi * gi;
      const double m_hat = m[i] / (1 - std::pow(o.beta1, k + 1)), v_hat = v[i] / (1 - std::pow(o.beta2, k + 1));
      x[i] -= o.rate(k, steps) * m_hat / (std::sqrt(v_hat) + o.epsilon);
    }
  }
};

/// The largest difference after some steps with gradients of this size.
double difference(const AdamOptions& options, at::ScalarType type, double size, int64_t k_end) {
  auto x = random_numbers(1000).to(type);
  Reference reference{options, {}};
  for (int64_t i = 0; i < count; ++i) reference.x.push_back(x[i].item<double>());
  Adam adam(options, x);
  for (int64_t k = 0; k < k_end; ++k) {
    auto gradient = (size * random_numbers(k)).to(type);
    reference.step(gradient, k);
    const double norm = gradient.to(at::kDouble).norm().item<double>();
    const auto found = adam.step(x, gradient, k, steps);
    EXPECT_NEAR(found.item<double>(), norm, 1e-6 * norm);
  }
  return (x.to(at::kDouble) - at::tensor(reference.x, at::kDouble)).abs().max().item<double>();
}

TEST(Adam, MakesTheStepOfTheFormula) {
  const AdamOptions options{.learning_rate = 0.05, .warm_up = 4, .final_share = 0.1, .beta2 = 0.95, .clip = 1e9};
  EXPECT_LT(difference(options, at::kDouble, 1, 1), 1e-13);
  EXPECT_LT(difference(options, at::kDouble, 1, 15), 1e-13);
  // Values near 1 to 3 in float32: twelve units in the last place, 2^-23, in fifteen steps.
  EXPECT_LT(difference(options, at::kFloat, 1, 15), 12 * 2.4e-7);
}

TEST(Adam, HoldsTheGradientBelowItsLimit) {
  // Norms near 7 before; epsilon so large that the step depends on the gradient's size.
  const AdamOptions options{.learning_rate = 0.05, .warm_up = 0, .epsilon = 0.1, .clip = 0.5};
  EXPECT_LT(difference(options, at::kDouble, 1, 10), 1e-11);
  auto limitless = options;
  limitless.clip = 1e9;
  EXPECT_LT(difference(limitless, at::kDouble, 1, 10), 1e-13);
  // Below the limit nothing is changed.
  EXPECT_LT(difference(options, at::kDouble, 0.01, 10), 1e-13);
}

TEST(Adam, SurvivesAGradientThatIsNotFinite) {
  const AdamOptions options{.learning_rate = 0.1, .warm_up = 0};
  auto x = random_numbers(1);
  Adam adam(options, x);
  auto gradient = random_numbers(2);
  adam.step(x, gradient, 0, steps);
  const auto mean = adam.state().at("adam_mean").clone(), square = adam.state().at("adam_square").clone();
  for (const double bad : {NAN, INFINITY, -INFINITY}) {
    auto broken = random_numbers(3);
    broken[7] = bad;
    EXPECT_FALSE(std::isfinite(adam.step(x, broken, 1, steps).item<double>()));
    EXPECT_TRUE(x.isfinite().all().item<bool>());
  }
  // As three steps with a gradient of zero.
  EXPECT_LT(test::relative_error(adam.state().at("adam_mean"), mean * std::pow(options.beta1, 3)), 1e-14);
  EXPECT_LT(test::relative_error(adam.state().at("adam_square"), square * std::pow(options.beta2, 3)), 1e-14);
}

TEST(Adam, ResumesFromItsState) {
  const AdamOptions options{.learning_rate = 0.05, .warm_up = 0};
  auto x = random_numbers(1).to(at::kFloat), y = x.clone();
  Adam adam(options, x), resumed(options, x);
  for (int64_t k = 0; k < 6; ++k) {
    auto gradient = random_numbers(k).to(at::kFloat), same = gradient.clone();
    if (k == 3) {
      y = x.clone();
      resumed.restore(adam.state());
    }
    adam.step(x, gradient, k, steps);
    if (k >= 3) resumed.step(y, same, k, steps);
  }
  EXPECT_TRUE(at::equal(x, y));
}

TEST(Adam, RateRisesAndFallsAlongACosine) {
  const AdamOptions options{.learning_rate = 2, .warm_up = 10, .final_share = 0.25};
  const auto cosine = [](int64_t k) { return 0.25 + 0.75 * (1 + std::cos(M_PI * static_cast<double>(k) / 100)) / 2; };
  EXPECT_NEAR(options.rate(0, 101), 2 * 0.1, 1e-15);
  EXPECT_NEAR(options.rate(4, 101), 2 * 0.5 * cosine(4), 1e-15);
  EXPECT_NEAR(options.rate(9, 101), 2 * cosine(9), 1e-15);
  EXPECT_NEAR(options.rate(50, 101), 2 * 0.625, 1e-15);
  EXPECT_NEAR(options.rate(100, 101), 2 * 0.25, 1e-15);
  for (int64_t k = 10; k < 100; ++k) EXPECT_LT(options.rate(k + 1, 101), options.rate(k, 101));
  const AdamOptions constant{.learning_rate = 2, .warm_up = 0, .final_share = 1};
  for (const int64_t k : {0, 1, 57, 100}) EXPECT_EQ(constant.rate(k, 101), 2);
  EXPECT_EQ(constant.rate(0, 1), 2);
}

}  // namespace
}  // namespace penumbra::training
