#include "vlbi/load.h"

#include <gtest/gtest.h>

#include "io/fits_reader.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"
#include "vlbi/example.h"
#include "vlbi/golden.h"
#include "vlbi/uvfits.h"

namespace penumbra::vlbi {
namespace {

namespace fs = std::filesystem;

Observation load(const std::string& text, const fs::path& folder) {
  auto settings = Settings::from_text(text, "c.yaml", folder);
  auto observation = load_observation(settings);
  settings.finish();
  return observation;
}

TEST(LoadUvfits, IsPreparedAsTheConfigurationSays) {
  if (!io::reads_fits()) GTEST_SKIP() << "built without CFITSIO";
  const auto folder = test::scratch();
  write_uvfits(folder / "x.uvfits", example_observation());
  EXPECT_EQ(load("{data: x.uvfits}", folder).visibilities.size(), 18U);
  EXPECT_EQ(load("{data: {file: x.uvfits, average: none, min_snr: 0, min_baseline: 0}}", folder).visibilities.size(),
            54U);
  EXPECT_EQ(load("{data: {file: x.uvfits, flag: {stations: [AA]}}}", folder).visibilities.size(), 9U);
  EXPECT_TRUE(test::contains(test::message_of([&] { load("{data: {file: x.uvfits, flag: {station: [AA]}}}", folder); }),
                             "data.flag.station: unknown key; did you mean stations?"));
  EXPECT_TRUE(test::contains(test::message_of([&] { load("{data: {file: x.uvfits, min_nsr: 3}}", folder); }),
                             "did you mean min_snr?"));
  test::write_text(folder / "x.txt", "no visibilities");
  EXPECT_TRUE(test::contains(test::message_of([&] { load("{data: x.txt}", folder); }), "x.txt: expected visibilities"));
}

TEST(LoadUvfits, M87HasTheGoldenCounts) {
  const auto folder = test::shared("data/eht/2019-D01-01_M87_2017");
  if (!io::reads_fits() || !folder || !test::shared("interferometry/golden/summary.json"))
    GTEST_SKIP() << "no CFITSIO, or no ../shared";
  for (const auto& name : test::golden_observations()) {
    const auto rows = load("{data: {file: SR1_" + name + "_hops_netcal_StokesI.uvfits}}", *folder).visibilities.size();
    EXPECT_EQ(rows, test::golden_summary().at(name).at("configs").at("B").at("n_vis").get<size_t>()) << name;
  }
}

}  // namespace
}  // namespace penumbra::vlbi
