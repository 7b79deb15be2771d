#include "diagnostics/moments.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "support/paths.h"

namespace penumbra::diagnostics {
namespace {

Tensor ensemble(int64_t k, double offset = 0) {
  return offset + normal({11, 0, k}, Stream::langevin, at::empty({5, 1, 4, 3}, at::kDouble));
}

TEST(Moments, EqualTheDirectComputation) {
  RunningMoments moments;
  std::vector<Tensor> all;
  for (int64_t k = 0; k < 37; ++k) {
    all.push_back(ensemble(k));
    moments.add(all.back());
  }
  const auto draws = at::cat(all);
  EXPECT_EQ(moments.count(), 5 * 37);
  EXPECT_LT(test::relative_error(moments.mean(), draws.mean(0)), 1e-14);
  EXPECT_LT(test::relative_error(moments.sd(), draws.std(0)), 1e-14);
  EXPECT_LT(test::relative_error(moments.chain_means(), at::stack(all).mean(0)), 1e-13);
}

// The textbook formula E x^2 - (E x)^2 loses every digit here: 1e9 squared has no room for a variance of 1.
TEST(Moments, SurviveALargeOffset) {
  RunningMoments near, far;
  for (int64_t k = 0; k < 20; ++k) {
    const auto x = (ensemble(k) * 1024).round() / 1024;  // so that adding 1e9 is exact
    near.add(x);
    far.add(x + 1e9);
  }
  EXPECT_LT(test::relative_error(far.sd(), near.sd()), 1e-6);
}

TEST(Moments, ResumeBitForBit) {
  RunningMoments whole, before, after;
  for (int64_t k = 0; k < 7; ++k) {
    whole.add(ensemble(k));
    if (k < 4) before.add(ensemble(k));
  }
  const auto state = before.state();
  before.add(ensemble(4));  // what goes on must not reach into a state already taken
  after.restore(state);
  for (int64_t k = 4; k < 7; ++k) after.add(ensemble(k));
  EXPECT_EQ(after.records(), 7);
  EXPECT_TRUE(after.mean().equal(whole.mean()));
  EXPECT_TRUE(after.sd().equal(whole.sd()));
}

TEST(Moments, ResumeFromNothing) {
  RunningMoments moments;
  moments.restore(RunningMoments().state());
  moments.add(ensemble(0));
  EXPECT_EQ(moments.count(), 5);
}

TEST(Moments, TakeSinglePrecisionIntoDouble) {
  RunningMoments moments;
  moments.add(ensemble(0).to(at::kFloat));
  EXPECT_EQ(moments.mean().scalar_type(), at::kDouble);
  EXPECT_TRUE(moments.chain_means().equal(ensemble(0).to(at::kFloat).to(at::kDouble)));
}

TEST(Moments, OneDrawHasNoSpread) {
  RunningMoments moments;
  moments.add(ensemble(0).narrow(0, 0, 1));
  EXPECT_TRUE(moments.sd().isnan().all().item<bool>());
}

TEST(Moments, RefuseAnotherShapeAndAForeignState) {
  RunningMoments moments;
  EXPECT_THROW(moments.mean(), InputError);
  moments.add(ensemble(0));
  EXPECT_THROW(moments.add(ensemble(1).narrow(0, 0, 4)), InputError);
  EXPECT_THROW(moments.restore({}), InputError);
}

}  // namespace
}  // namespace penumbra::diagnostics
