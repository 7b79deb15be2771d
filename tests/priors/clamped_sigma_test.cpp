#include "priors/clamped_sigma.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "priors/gaussian_mixture.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::contains;
using test::message_of;

/// N(0, 1) that is known from 0.1 to 10 only.
class Limited final : public Score {
 public:
  Limited() : Score({1, 2, 2}) {}
  SigmaRange sigma_range() const override { return {0.1, 10}; }
  std::optional<std::pair<double, double>> pixel_range() const override { return std::pair{-1.0, 1.0}; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor&) const override { return -x / (1 + sigma * sigma); }
};

struct ClampedSigma : testing::Test {
  std::shared_ptr<const Score> limited = std::make_shared<Limited>();
  ClampedSigmaScore clamped{limited};
  Tensor x = normal({5, 0, 0}, Stream::probe, at::empty({3, 1, 2, 2}, at::kDouble));
};

TEST_F(ClampedSigma, OutsideTheRangeIsRefusedByDefaultWithTheWayOut) {
  const auto message = message_of([&] { limited->score(x, 10.5); });
  EXPECT_TRUE(contains(message, "sigma = 10.5")) << message;
  EXPECT_TRUE(contains(message, "[0.1, 10]")) << message;
  EXPECT_TRUE(contains(message, "prior.out_of_range: clamp")) << message;
  EXPECT_THROW(limited->denoise(x, 0.05), InputError);
  // A schedule's rounding is no reason to refuse.
  EXPECT_NO_THROW(limited->score(x, 10 * (1 + 1e-15)));
}

TEST_F(ClampedSigma, TakesTheScoreOfTheNearestKnownSigma) {
  EXPECT_TRUE(clamped.score(x, 50).equal(limited->score(x, 10)));
  EXPECT_TRUE(clamped.score(x, 0).equal(limited->score(x, 0.1)));
  EXPECT_TRUE(clamped.score(x, 3).equal(limited->score(x, 3)));
}

TEST_F(ClampedSigma, DenoisesByTweediesFormulaWithTheSigmaAskedFor) {
  EXPECT_LT(test::relative_error(clamped.denoise(x, 50), x + 2500 * limited->score(x, 10)), 1e-14);
  EXPECT_TRUE(clamped.denoise(x, 0).equal(x));
  EXPECT_TRUE(clamped.denoise(x, 3).equal(limited->denoise(x, 3)));
}

TEST_F(ClampedSigma, CountsAndSaysItOnce) {
  EXPECT_EQ(clamped_count(*limited), 0);
  testing::internal::CaptureStderr();
  clamped.score(x, 3);
  EXPECT_EQ(clamped_count(clamped), 0);
  clamped.score(x, 50);
  clamped.denoise(x, 0.01);
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(clamped_count(clamped), 2);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_TRUE(contains(said, "asked at 50")) << said;
  EXPECT_TRUE(contains(said, "[0.1, 10]")) << said;
}

TEST_F(ClampedSigma, KeepsTheRangeAndRefusesWhatIsNoSigma) {
  EXPECT_EQ(clamped.sigma_range().low, 0.1);
  EXPECT_EQ(clamped.sigma_range().high, 10);
  EXPECT_EQ(clamped.pixel_range(), (std::pair{-1.0, 1.0}));
  EXPECT_FALSE(clamped.error_bound());
  EXPECT_THROW(clamped.score(x, -1), InputError);
  EXPECT_THROW(clamped.score(x, std::numeric_limits<double>::infinity()), InputError);
}

TEST_F(ClampedSigma, APriorKnownEverywhereIsLeftAlone) {
  const auto prior = make_prior(
      Settings::from_text("{kind: gaussian, image_shape: [1, 2, 2], variance: 1, out_of_range: clamp}", "prior"), {});
  EXPECT_TRUE(dynamic_cast<const GaussianMixture*>(prior.get()));
  EXPECT_FALSE(prior->pixel_range());
  EXPECT_TRUE(contains(message_of([] {
                         make_prior(Settings::from_text("{kind: gaussian, image_shape: [1, 2, 2], variance: 1, "
                                                        "out_of_range: wrap}",
                                                        "prior"),
                                    {});
                       }),
                       "out_of_range"));
}

}  // namespace
}  // namespace penumbra
