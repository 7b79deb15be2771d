/// A likelihood given data that it simulated is the one that reads the same data from a file.
#include "likelihoods/simulated.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/npy.h"
#include "likelihoods/clipped.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::in_double;

const Cursor at_first{8, 0, 0};
constexpr int64_t truths = 3, chains = 2;

Tensor images(int64_t count, int64_t k, const Shape& shape) {
  return uniform({4, 0, k}, Stream::truth, at::empty({count, shape[0], shape[1], shape[2]}, at::kDouble));
}

struct SimulatedData : testing::Test {
  std::filesystem::path folder = test::scratch();
  Shape shape{1, 8, 8};

  std::shared_ptr<const Likelihood> make(const std::string& text, Purpose purpose) const {
    return make_likelihood(Settings::from_text("{" + text + "}", "c.yaml", folder), shape, in_double, purpose);
  }
  /// `with_data` names the file y.npy, to which each truth's simulation is written.
  void expect_as_from_a_file(const std::string& text, const std::string& with_data, double tolerance) const {
    const auto without = make(text, Purpose::simulate);
    const auto x = images(truths, 0, shape), at_x = images(truths * chains, 1, shape);
    EXPECT_TRUE(takes_many_measurements(*without));
    const auto together = given_simulated(without, x, chains, at_first);
    for (int64_t i = 0; i < truths; ++i) {
      const Cursor at{at_first.seed, i, 0};
      const auto own = at_x.narrow(0, chains * i, chains);
      const auto alone = given_simulated(without, x.narrow(0, i, 1), 1, at);
      io::write_npy(folder / "y.npy", without->simulate(x.narrow(0, i, 1), at)[0]);
      const auto read = make(with_data, Purpose::sample);
      EXPECT_LT(test::relative_error(alone->value(own), read->value(own)), tolerance);
      EXPECT_LT(test::relative_error(alone->grad(own), read->grad(own)), tolerance);
      EXPECT_LT(test::relative_error(together->value(at_x).narrow(0, chains * i, chains), alone->value(own)), 1e-11);
      EXPECT_LT(test::relative_error(together->grad(at_x).narrow(0, chains * i, chains), alone->grad(own)), 1e-11);
    }
  }
};

TEST_F(SimulatedData, OfAForwardModelWithGaussianNoise) {
  const std::string text = "kind: gaussian, rows: 20, noise_sd: 0.3";
  expect_as_from_a_file(text, text + ", data: y.npy", 1e-12);
  const auto likelihood = given_simulated(make(text, Purpose::simulate), images(truths, 0, shape), chains, at_first);
  EXPECT_GT(likelihood->lipschitz().value(), 0);
}

TEST_F(SimulatedData, KeepTheBoundOnTheGradient) {
  const std::string text = "kind: gaussian, rows: 20, noise_sd: 0.3, clip_gradient: 0.5";
  expect_as_from_a_file(text, text + ", data: y.npy", 1e-12);
  const auto clipped = given_simulated(make(text, Purpose::simulate), images(truths, 0, shape), chains, at_first);
  EXPECT_LE(norm_per_chain(clipped->grad(images(truths * chains, 1, shape))).max().item<double>(), 0.5 + 1e-12);
}

/// A file of k-space holds float32.
TEST_F(SimulatedData, OfAScan) {
  const std::string text =
      "kind: mri, mask: {kind: cartesian, acceleration: 2}, noise_sd: 0.05, image: {values: magnitude}";
  expect_as_from_a_file(text, text + ", data: y.npy", 1e-5);
}

TEST_F(SimulatedData, OfNothingAreNothing) {
  const auto none = make("kind: none", Purpose::simulate);
  EXPECT_TRUE(takes_many_measurements(*none));
  EXPECT_EQ(given_simulated(none, images(truths, 0, shape), chains, at_first), none);
}

}  // namespace
}  // namespace penumbra
