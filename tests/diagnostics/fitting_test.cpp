#include "diagnostics/fitting.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace penumbra::diagnostics {
namespace {

Tensor numbers(std::vector<double> values) { return at::tensor(values, at::kDouble); }

/// 200 + 100 data: up to 300 (1 + 3 sqrt(2 / 300)), 1.245 a datum.
TEST(Fitting, LeavesOutWhatNoiseCannotExplain) {
  const auto found = fitting_samples({{"phases", numbers({1.0, 1.2, 1.4, 0.9, 6.0, 1.0, 1.1, 1.0}), 200},
                                      {"amplitudes", numbers({1.0, 1.3, 0.9, 1.7, 1.0, 0.9, 1.0, 1.1}), 100}});
  EXPECT_NEAR(found.most, 1 + 3 * std::sqrt(2.0 / 300), 1e-12);
  EXPECT_EQ(found.kept, (std::vector<int64_t>{0, 1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(found.left_out, (std::vector<int64_t>{4}));
}

TEST(Fitting, WhereNoneFitsTheBestOnesSayWhatCanBeHad) {
  const auto found = fitting_samples({{"data", numbers({3.0, 3.1, 3.2, 9.0, 3.0, 3.1, 3.2, 3.3}), 800}});
  EXPECT_NEAR(found.most, 3 * 1.15, 1e-12);
  EXPECT_EQ(found.left_out, (std::vector<int64_t>{3}));
}

/// chi^2 of 300 data: three SDs above the mean is 1 in 500 (it has a tail); more than 12 of 2000 happens once in a
/// thousand times.
TEST(Fitting, KeepsTheDrawsOfNoise) {
  const auto noise = normal({5, 0, 0}, Stream::probe, at::empty({2000, 300}, at::kDouble));
  EXPECT_LE(fitting_samples({{"data", noise.square().mean(1), 300}}).left_out.size(), 12u);
}

TEST(Fitting, AFewAreAllKept) {
  const auto found = fitting_samples({{"data", numbers({1.0, 9.0}), 100}});
  EXPECT_EQ(found.kept, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(found.most, 0);
}

TEST(Fitting, WithoutDataNothingIsSaid) {
  const auto none = fitting_samples({});
  EXPECT_TRUE(none.kept.empty() && none.left_out.empty());
}

}  // namespace
}  // namespace penumbra::diagnostics
