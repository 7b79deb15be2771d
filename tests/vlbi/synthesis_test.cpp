#include "vlbi/synthesis.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/fits_reader.h"
#include "support/message.h"
#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/array_file.h"
#include "vlbi/closures.h"
#include "vlbi/golden.h"
#include "vlbi/sidereal.h"
#include "vlbi/uvfits.h"

namespace penumbra::vlbi {
namespace {

using test::contains;
using test::message_of;

ObservationPlan m87_plan() {
  ObservationPlan plan;
  plan.stations = known_array("EHT2017").value();
  plan.source = "M87";
  plan.right_ascension = 12.513728717168174;
  plan.declination = 12.39112323919932;
  plan.frequency = 227070703125;
  return plan;
}

io::SkyImage spot(double east_uas, double north_uas) {
  io::SkyImage image;
  constexpr int64_t side = 9;
  image.pixel_radians = 10 * io::radians_per_microarcsecond;
  image.pixels = at::zeros({side, side}, at::kDouble);
  image.pixels[4 - std::lround(north_uas / 10)][4 - std::lround(east_uas / 10)] = 0.6;
  return image;
}

// Section 8 of the specification: J2000 coordinates give the u, v of the 2017 files to 7e-5.
TEST(Synthesis, TheEarthTurnsAsInTheM87Files) {
  const auto file = test::shared("data/eht/2019-D01-01_M87_2017/SR1_M87_2017_096_lo_hops_netcal_StokesI.uvfits");
  if (!io::reads_fits() || !file) GTEST_SKIP() << "no CFITSIO, or no ../shared/data/eht";
  const auto observation = read_uvfits(*file);
  const Direction source(observation.right_ascension, observation.declination);
  double squares = 0, errors = 0;
  for (const auto& row : observation.visibilities) {
    const double turned = sidereal_degrees(static_cast<double>(observation.mjd) + mjd_zero + row.time / 24);
    const auto [u, v] = source.baseline(observation.stations[static_cast<size_t>(row.first)],
                                        observation.stations[static_cast<size_t>(row.second)], turned);
    const double per_metre = observation.frequency / 299792458;
    errors += std::pow(u * per_metre - row.u, 2) + std::pow(v * per_metre - row.v, 2);
    squares += row.u * row.u + row.v * row.v;
  }
  EXPECT_LT(std::sqrt(errors / squares), 7e-5);
}

// Section 9: all 938 rows of that file are rebuilt, u and v to a float's digits, SDs to 3e-6.
TEST(Synthesis, NineStationsAreThoseOfTheSimulationOfSunAndBouman) {
  const auto file = test::shared("data/blackhole/pnpdm/obs.uvfits");
  if (!io::reads_fits() || !file) GTEST_SKIP() << "no CFITSIO, or no ../shared/data/blackhole";
  const auto theirs = read_uvfits(*file);
  ObservationPlan plan;
  plan.stations = known_array("EHT9").value();
  plan.right_ascension = 17.761122472222223;
  plan.declination = -28.992189444444445;
  plan.clock = Clock::sidereal;
  plan.min_elevation = 15;
  plan.opacity = 0.1;
  plan.hands = 1;
  const auto ours = plan_observation(plan, "plan");
  ASSERT_EQ(ours.visibilities.size(), theirs.visibilities.size());
  for (size_t i = 0; i < ours.visibilities.size(); ++i) {
    const auto &a = ours.visibilities[i], &b = theirs.visibilities[i];
    ASSERT_EQ(a.first, b.first);
    ASSERT_EQ(a.second, b.second);
    EXPECT_NEAR(a.time, b.time, 24 * 0x1p-24);
    EXPECT_NEAR(a.u, b.u, 1e-7 * 1e10);
    EXPECT_NEAR(a.v, b.v, 1e-7 * 1e10);
    EXPECT_NEAR(a.sd, b.sd, 3e-6 * b.sd) << i;
  }
}

TEST(Synthesis, ASpotHasTheVisibilityOfAPoint) {
  auto observation = plan_observation(m87_plan(), "plan");
  observe_image(observation, spot(20, -30), Pulse::delta);
  constexpr double uas = io::radians_per_microarcsecond;
  for (const auto& row : observation.visibilities) {
    const auto expected = std::polar(0.6, 2 * M_PI * (row.u * 20 * uas - row.v * 30 * uas));
    EXPECT_LT(std::abs(row.value - expected), 1e-13);
  }
}

// README of the golden data: model visibilities to 1e-12 of the flux, 0.6 Jy.
TEST(Synthesis, ImagesHaveEhtimsVisibilities) {
  const auto images = test::shared("interferometry/golden/images.npz");
  const auto golden = test::shared("interferometry/golden/M87_2017_100_lo.npz");
  if (!images || !golden) GTEST_SKIP() << "no ../shared/interferometry";
  const auto arrays = test::read_npz(*golden), pictures = test::read_npz(*images);
  auto observation = test::observation_in(arrays, "B/vis/");
  for (const std::string name : {"ring", "gauss", "crescent"}) {
    io::SkyImage image;
    image.pixels = pictures.at(name);
    image.pixel_radians = 2 * io::radians_per_microarcsecond;
    observe_image(observation, image);
    const auto model = arrays.at("B/" + name + "/vis_model");
    for (size_t i = 0; i < observation.visibilities.size(); ++i) {
      const auto expected = model[static_cast<int64_t>(i)].item<c10::complex<double>>();
      EXPECT_LT(std::abs(observation.visibilities[i].value - std::complex(expected.real(), expected.imag())), 0.6e-12);
    }
  }
}

// Section 9: the image that was observed fits the closures of those data with chi^2 of 0.86 (phases) and 1.05 (log
// amplitudes); turned or mirrored it would be above 50.
TEST(Synthesis, TheTruthOfASimulationFitsItsData) {
  const auto folder = test::shared("data/blackhole/pnpdm");
  if (!io::reads_fits() || !folder) GTEST_SKIP() << "no CFITSIO, or no ../shared/data/blackhole";
  const auto observed = read_uvfits(*folder / "obs.uvfits");
  auto model = observed;
  observe_image(model, io::read_sky_image(*folder / "gt.fits"));
  // The model has no noise to be taken out of its amplitudes.
  const auto data = form_closures(observed, {.rule = ClosureRule::ehtim_min, .debias = true}),
             fit = form_closures(model, {.rule = ClosureRule::ehtim_min, .debias = false});
  ASSERT_EQ(data.phases.size(), 580U);
  ASSERT_EQ(data.amplitudes.size(), 485U);
  double phases = 0, amplitudes = 0;
  for (size_t i = 0; i < data.phases.size(); ++i)
    phases += 2 * (1 - std::cos(fit.phases[i].value - data.phases[i].value)) / std::pow(data.phases[i].sd, 2);
  for (size_t i = 0; i < data.amplitudes.size(); ++i)
    amplitudes += std::pow((fit.amplitudes[i].value - data.amplitudes[i].value) / data.amplitudes[i].sd, 2);
  EXPECT_NEAR(phases / 580, 0.86, 0.01);
  EXPECT_NEAR(amplitudes / 485, 1.05, 0.01);
}

TEST(Synthesis, StationsBelowTheHorizonAreLeftOut) {
  auto plan = m87_plan();
  const auto all = plan_observation(plan, "plan");
  for (const auto& row : all.visibilities) EXPECT_NE(plan.stations[static_cast<size_t>(row.second)].name, "SPT");
  plan.min_elevation = 40;
  EXPECT_LT(plan_observation(plan, "plan").visibilities.size(), all.visibilities.size());
  plan.min_elevation = 84.9;
  EXPECT_TRUE(
      contains(message_of([&] { plan_observation(plan, "plan"); }), "plan: expected two stations that see M87"));
  plan.interval = 1e-6;
  EXPECT_TRUE(contains(message_of([&] { plan_observation(plan, "plan"); }), "plan: interval: "));
  plan = m87_plan();
  plan.stations[3].sefd_left = 0;
  EXPECT_TRUE(contains(message_of([&] { plan_observation(plan, "plan"); }), "an SEFD > 0 for station JCMT"));
}

TEST(Synthesis, NoiseHasTheSdThatIsSaid) {
  auto observation = plan_observation(m87_plan(), "plan");
  const auto clean = observation;
  corrupt(observation, {}, 7);
  double sum = 0;
  const auto n = static_cast<double>(2 * observation.visibilities.size());
  for (const auto& row : observation.visibilities) sum += std::norm(row.value) / (row.sd * row.sd);
  EXPECT_NEAR(sum / n, 1, 4 * std::sqrt(2 / n));  // a mean of n squares of standard normal numbers
  auto again = clean;
  corrupt(again, {}, 7);
  EXPECT_EQ(again.visibilities.back().value, observation.visibilities.back().value);
  corrupt(again = clean, {}, 8);
  EXPECT_NE(again.visibilities.back().value, observation.visibilities.back().value);
}

TEST(Synthesis, StationErrorsLeaveClosuresAlone) {
  auto clean = plan_observation(m87_plan(), "plan");
  observe_image(clean, spot(20, -30));
  for (auto& row : clean.visibilities) row.value += 0.3;  // a point in the middle: closures that are not zero
  corrupt(clean, {}, 3);
  auto corrupted = plan_observation(m87_plan(), "plan");
  observe_image(corrupted, spot(20, -30));
  for (auto& row : corrupted.visibilities) row.value += 0.3;
  corrupt(corrupted, {.gain_sd = 0.1, .gain_sd_per_time = 0.1, .random_phases = true}, 3);
  double changed = 0;
  for (size_t i = 0; i < clean.visibilities.size(); ++i) {
    const auto &a = clean.visibilities[i], &b = corrupted.visibilities[i];
    changed += std::abs(a.value - b.value);
    EXPECT_NEAR(std::abs(a.value) / a.sd, std::abs(b.value) / b.sd, 1e-12 * std::abs(a.value) / a.sd);
  }
  EXPECT_GT(changed / static_cast<double>(clean.visibilities.size()), 0.1);
  const auto before = form_closures(clean), after = form_closures(corrupted);
  ASSERT_EQ(before.phases.size(), after.phases.size());
  ASSERT_GT(before.amplitudes.size(), 100U);
  for (size_t i = 0; i < before.phases.size(); ++i)
    EXPECT_NEAR(std::remainder(before.phases[i].value - after.phases[i].value, 2 * M_PI), 0, 1e-11);
  for (size_t i = 0; i < before.amplitudes.size(); ++i)
    EXPECT_NEAR(before.amplitudes[i].value, after.amplitudes[i].value, 1e-11);
}

}  // namespace
}  // namespace penumbra::vlbi
