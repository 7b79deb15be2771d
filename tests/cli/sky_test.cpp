/// Interferometers' files and images of the sky, as a user meets them: info and export.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/fits_reader.h"
#include "io/npy.h"
#include "io/sky_image.h"
#include "report/synthetic_run.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"
#include "vlbi/example.h"
#include "vlbi/uvfits.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Sky : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::reads_fits()) GTEST_SKIP() << "built without CFITSIO";
  }
};

json info(const fs::path& path) {
  const auto result = penumbra({"info", path.string(), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  return json::parse(result.out);
}

TEST_F(Sky, InfoDescribesVisibilities) {
  const auto path = scratch() / "x.uvfits";
  vlbi::write_uvfits(path, vlbi::example_observation());
  const auto about = info(path);
  EXPECT_EQ(about["kind"].get<std::string>(), "visibilities (UVFITS)");
  EXPECT_EQ(about["source"].get<std::string>(), "M87");
  EXPECT_EQ(about["date"].get<std::string>(), "2017-04-06");
  EXPECT_EQ(about["visibilities"], 54);
  EXPECT_EQ(about["times"], 9);
  EXPECT_EQ(about["scans"], 3);
  EXPECT_EQ(about["baselines"], 6);
  EXPECT_EQ(about["stations"][0], json({"AA", 27}));
  EXPECT_TRUE(about["short_baseline_flux_jy"].is_null());
  // Four stations that all see one another: 3 independent phases and 2 amplitudes a scan.
  EXPECT_EQ(about["prepared"]["visibilities"], 18);
  EXPECT_EQ(about["prepared"]["closure_phases"], 9);
  EXPECT_EQ(about["prepared"]["closure_amplitudes"], 6);
}

TEST_F(Sky, InfoSaysWhereOnlyShortBaselinesAreLeft) {
  auto observation = vlbi::example_observation();
  for (auto& row : observation.visibilities) row.u = row.v = 1e6;
  const auto path = scratch() / "x.uvfits";
  vlbi::write_uvfits(path, observation);
  const auto about = info(path);
  EXPECT_TRUE(about["short_baseline_flux_jy"].is_number());
  EXPECT_TRUE(contains(about["prepared"]["unusable"].get<std::string>(), "min_baseline 1e+08"));
}

TEST_F(Sky, InfoRefusesABrokenFile) {
  const auto path = scratch() / "x.uvfits";
  write_text(path, vlbi::format_uvfits(vlbi::example_observation(), "x").substr(0, 9000));
  const auto result = penumbra({"info", path.string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "x.uvfits: part 1: expected")) << result.err;
}

TEST_F(Sky, ExportWritesFits) {
  const auto run = write_synthetic_run({.shape = {1, 12, 16}, .chains = 4}), out = scratch() / "out";
  const auto call = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{"export", run.string(), "--out", out.string(), "--format", "fits"};
    args.insert(args.end(), more.begin(), more.end());
    return penumbra(args);
  };
  EXPECT_TRUE(contains(call({}).err, "--format fits: expected --fov"));
  ASSERT_EQ(call({"--fov", "160", "--jy-per-unit", "0.5"}).code, 0);
  const auto mean = io::read_sky_image(out / "mean.fits");
  EXPECT_TRUE(mean.pixels.equal(io::read_npy(run / "mean.npy")[0].to(at::kDouble) * 0.5));
  EXPECT_EQ(mean.unit, "JY/PIXEL");
  const auto about = info(out / "mean.fits");
  EXPECT_EQ(about["kind"].get<std::string>(), "image of the sky");
  EXPECT_NEAR(about["fov_uas"].get<double>(), 160, 1e-9);
  EXPECT_EQ(about["shape"], json({12, 16}));
}

TEST(SkyWithoutCfitsio, IsRefusedWithTheReason) {
  if (io::reads_fits()) GTEST_SKIP() << "built with CFITSIO";
  const auto path = scratch() / "x.uvfits";
  write_text(path, "SIMPLE  =                    T");
  const auto result = penumbra({"info", path.string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "built without CFITSIO")) << result.err;
}

}  // namespace
}  // namespace penumbra::test
