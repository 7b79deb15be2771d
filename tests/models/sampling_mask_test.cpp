#include "models/sampling_mask.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/npy.h"
#include "support/message.h"
#include "support/npz.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::contains;
using test::message_of;

Tensor from_text(const std::string& text, int64_t height, int64_t width, const Tensor& acquired = {}) {
  auto settings = Settings::from_text(text, "mask", test::scratch());
  auto mask = mask_setting(settings, height, width, acquired);
  settings.finish();
  return mask;
}

double acceleration(const Tensor& mask) {
  return static_cast<double>(mask.numel()) / static_cast<double>(mask.sum().item<int64_t>());
}

TEST(SamplingMask, RadialIsTheOfficialOne) {
  const auto golden = test::shared("golden/radial_masks.npz");
  if (!golden) GTEST_SKIP() << "no ../shared/golden here";
  int compared = 0;
  for (const auto& [name, official] : test::read_npz(*golden)) {
    const auto mask = official.squeeze();
    if (mask.dim() != 2) continue;
    const int64_t lines = contains(name, "32") ? 32 : 64;
    EXPECT_TRUE(radial_mask(256, 256, lines).equal(mask.ne(0))) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

TEST(SamplingMask, RadialHasThesePoints) {
  // By a second program from the rule, where no coordinate is near a half: the same on every machine.
  const std::vector<std::string> rows{"..#...#.", "...#.#..", "#..#.#..", ".###.###", "..#####.",
                                      "########", "..#####.", ".###.###", "#..#.#..", "...#.#.."};
  const auto mask = radial_mask(10, 8, 5);
  for (int64_t i = 0; i < 10; ++i)
    for (int64_t j = 0; j < 8; ++j)
      EXPECT_EQ(mask[i][j].item<bool>(), rows[static_cast<size_t>(i)][static_cast<size_t>(j)] == '#') << i << "," << j;
}

TEST(SamplingMask, CartesianHasWholeLinesACentreAndTheAccelerationAskedFor) {
  for (const double asked : {2.0, 4.0, 7.3}) {
    const auto mask =
        from_text(fmt::format("{{kind: cartesian, acceleration: {}, centre_fraction: 0.1}}", asked), 30, 180);
    const auto lines = mask[0].sum().item<double>();
    EXPECT_LE(std::abs(lines - 180 / asked), 1) << asked;
    EXPECT_TRUE(mask.eq(mask[0]).all().item<bool>());
    EXPECT_TRUE(around_centre(mask, 1, 18).all().item<bool>());
  }
  const auto rows = from_text("{kind: cartesian, acceleration: 4, axis: height}", 100, 6);
  EXPECT_TRUE(rows.eq(rows.select(1, 0).unsqueeze(1)).all().item<bool>());
  EXPECT_EQ(rows.sum().item<int64_t>(), 25 * 6);
}

TEST(SamplingMask, SeedsDecide) {
  for (const std::string kind : {"cartesian", "poisson_disc"}) {
    const auto text = [&](int seed) {
      return fmt::format("{{kind: {}, acceleration: 4, mask_seed: {}{}}}", kind, seed,
                         kind == "cartesian" ? "" : ", calibration: 8");
    };
    EXPECT_TRUE(from_text(text(1), 40, 60).equal(from_text(text(1), 40, 60)));
    EXPECT_FALSE(from_text(text(1), 40, 60).equal(from_text(text(2), 40, 60)));
  }
}

TEST(SamplingMask, PoissonDiscHasItsAccelerationAndItsCentre) {
  for (const bool variable : {true, false})
    for (const double asked : {2.5, 4.0, 8.0}) {
      const auto mask = poisson_disc_mask(
          115, 90, {.acceleration = asked, .calibration = 16, .variable_density = variable, .seed = 3});
      EXPECT_NEAR(acceleration(mask) / asked, 1, 0.02) << asked;
      EXPECT_TRUE(around_centre(around_centre(mask, 0, 16), 1, 16).all().item<bool>());
    }
}

TEST(SamplingMask, PoissonDiscKeepsItsDistance) {
  // At 8x without a centre a radius of 2 leaves room enough, so no two points touch, corners included; at random
  // most of them would: each of 450 points has 8 neighbours that are taken with probability 1/8.
  const auto mask =
      poisson_disc_mask(60, 60, {.acceleration = 8, .calibration = 0, .variable_density = false, .seed = 1});
  int64_t touching = 0;
  for (const auto& [dy, dx] : {std::pair<int64_t, int64_t>{0, 1}, {1, 0}, {1, 1}})
    touching += mask.narrow(0, 0, 60 - dy)
                    .narrow(1, 0, 60 - dx)
                    .logical_and(mask.narrow(0, dy, 60 - dy).narrow(1, dx, 60 - dx))
                    .sum()
                    .item<int64_t>();
  EXPECT_EQ(touching, 0);
}

TEST(SamplingMask, VariableDensityIsDenserAtTheCentre) {
  const auto mask =
      poisson_disc_mask(96, 96, {.acceleration = 6, .calibration = 0, .variable_density = true, .seed = 1});
  const auto inner = around_centre(around_centre(mask, 0, 32), 1, 32).to(at::kDouble).mean().item<double>();
  EXPECT_GT(inner, 2 * mask.to(at::kDouble).mean().item<double>());
}

TEST(SamplingMask, CentreIsTheSampledRectangle) {
  auto mask = at::zeros({20, 30}, at::kBool);
  EXPECT_EQ(sampled_centre(mask), (std::pair<int64_t, int64_t>{0, 0}));
  around_centre(mask, 1, 7).fill_(true);
  EXPECT_EQ(sampled_centre(mask), (std::pair<int64_t, int64_t>{20, 7}));
  mask.zero_();
  around_centre(around_centre(mask, 0, 6), 1, 10).fill_(true);
  EXPECT_EQ(sampled_centre(mask), (std::pair<int64_t, int64_t>{6, 10}));
  mask.select(0, 10).fill_(true);  // a longer line is no centre
  EXPECT_EQ(sampled_centre(mask), (std::pair<int64_t, int64_t>{6, 10}));
  EXPECT_EQ(sampled_centre(at::ones({5, 4}, at::kBool)), (std::pair<int64_t, int64_t>{5, 4}));
}

TEST(SamplingMask, FromFileAndFromData) {
  const auto folder = test::scratch();
  const auto read = [&](const std::string& text, const Tensor& acquired = {}) {
    return mask_setting(Settings::from_text(text, "mask", folder), 3, 4, acquired);
  };
  const auto columns = at::tensor({1, 0, 0, 1}, at::kLong);
  io::write_npy(folder / "columns.npy", columns);
  EXPECT_TRUE(read("{kind: file, file: columns.npy}").equal(columns.to(at::kBool).expand({3, 4})));
  io::write_npy(folder / "points.npy", at::eye(3, 4, at::kDouble));
  EXPECT_TRUE(read("{kind: file, file: points.npy}").equal(at::eye(3, 4, at::kDouble).to(at::kBool)));
  EXPECT_TRUE(read("{}", at::eye(3, 4, at::kDouble).to(at::kBool)).equal(at::eye(3, 4, at::kDouble).to(at::kBool)));
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    const auto message = message_of([&] { read(text); });
    for (const auto& word : words) EXPECT_TRUE(contains(message, word)) << word << " in: " << message;
  };
  io::write_npy(folder / "wide.npy", at::ones({3, 5}, at::kDouble));
  refused("{kind: file, file: wide.npy}", {"wide.npy", "3x4", "3x5"});
  io::write_npy(folder / "grey.npy", at::full({3, 4}, 0.5, at::kDouble));
  refused("{kind: file, file: grey.npy}", {"grey.npy", "zeros and ones"});
  io::write_npy(folder / "empty.npy", at::zeros({3, 4}, at::kDouble));
  refused("{kind: file, file: empty.npy}", {"kind", "empty"});
  refused("{kind: data}", {"kind", "no data"});
  refused("{kind: radial, lines: 3}", {"even"});
  refused("{kind: cartesian, acceleration: 4, centre_fraction: 0.9}", {"centre_fraction", "1 of 4 lines"});
  refused("{kind: poisson_disc, acceleration: 4}", {"calibration", "12 points"});
  refused("{kind: cartesian, acceleration: 0.5}", {"acceleration"});
}

}  // namespace
}  // namespace penumbra
