/// Scanners' files and other programs' images, as a user meets them: info and export.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/cfl.h"
#include "io/image.h"
#include "io/kspace.h"
#include "io/nifti.h"
#include "io/npy.h"
#include "report/synthetic_run.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"
#include "support/scans.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// k-space [2, 8, 6] without column 1: 2 to 4 are sampled around the middle, 3.
Tensor undersampled() {
  auto samples = numbered_kspace({2, 8, 6});
  samples.select(2, 1).zero_();
  return samples;
}

void expect_undersampled(const json& info) {
  EXPECT_EQ(info["coils"], 2);
  EXPECT_EQ(info["acquired"], 40);
  EXPECT_NEAR(info["acceleration"].get<double>(), 1.2, 1e-12);
  EXPECT_EQ(info["fully_sampled_centre"], json({8, 3}));
}

TEST(InfoOnScans, DescribesBart) {
  const auto stem = scratch() / "k";
  io::write_cfl(stem, undersampled(), {io::cfl_coil});
  for (const auto* end : {"", ".cfl", ".hdr"}) {
    const auto about = info(stem.string() + end);
    EXPECT_EQ(about["kind"].get<std::string>(), "k-space (BART)");
    EXPECT_EQ(about["shape"], json({2, 8, 6}));
    expect_undersampled(about);
  }
  // Maps of two sets are no k-space of a slice, but an array all the same.
  io::write_cfl(stem, at::ones({2, 2, 8, 6}), {io::CflDimension(4), io::cfl_coil});
  const auto maps = info(stem);
  EXPECT_EQ(maps["kind"].get<std::string>(), "array (BART)");
  EXPECT_TRUE(contains(maps["no_kspace_of_a_slice"].get<std::string>(), "MAPS: expected 1, found 2"));
}

TEST(InfoOnScans, DescribesComplexNpyAsKspaceToo) {
  const auto path = scratch() / "k.npy";
  io::write_npy(path, undersampled());
  const auto about = info(path);
  EXPECT_EQ(about["kind"].get<std::string>(), "array (NPY)");
  expect_undersampled(about["as_kspace"]);
}

TEST(InfoOnScans, DescribesFastMri) {
  if (!writes_hdf5()) GTEST_SKIP() << "built without HDF5";
  const auto path = scratch() / "k.h5";
  write_fastmri(path, {.kspace = at::stack({undersampled(), undersampled()})});
  const auto about = info(path);
  EXPECT_EQ(about["kind"].get<std::string>(), "k-space (fastMRI HDF5)");
  EXPECT_EQ(about["slices"], 2);
  EXPECT_EQ(about["notes"], json({{"acquisition", "AXT2"}, {"max", "0.25"}}));
  expect_undersampled(about);
  EXPECT_TRUE(contains(penumbra({"info", path.string()}).out, "acquisition            AXT2\n"));
}

TEST(InfoOnScans, DescribesIsmrmrd) {
  if (!writes_ismrmrd()) GTEST_SKIP() << "built without ISMRMRD";
  const auto path = scratch() / "k.h5";
  std::vector<Line> lines{{.samples = numbered_kspace({2, 10}), .flags = {19}}};
  for (int step : {0, 2, 3, 4, 5})
    lines.push_back({.samples = undersampled().select(2, step), .step = step, .centre = 4});
  write_ismrmrd(path, ismrmrd_xml(8, 6, 3), lines);
  const auto about = info(path);
  EXPECT_EQ(about["kind"].get<std::string>(), "k-space (ISMRMRD HDF5)");
  EXPECT_EQ(about["noise_samples"], 10);
  EXPECT_EQ(about["notes"]["field_T"].get<std::string>(), "1.5");
  expect_undersampled(about);
}

TEST(InfoOnScans, FindsTheCentreWhereNoLineIsWhole) {
  auto samples = numbered_kspace({9, 9});
  samples.diagonal().narrow(0, 0, 2).zero_();
  for (int64_t i = 0; i < 9; ++i) samples[i][8 - i] *= std::abs(i - 4) < 3 ? 1 : 0;
  samples.select(0, 0).zero_();
  samples.select(1, 0).zero_();
  samples.select(0, 8).zero_();
  samples.select(1, 8).zero_();
  const auto path = scratch() / "k.npy";
  io::write_npy(path, samples);
  EXPECT_EQ(info(path)["as_kspace"]["fully_sampled_centre"], json({5, 7}));
}

struct Export : testing::Test {
  fs::path run = write_synthetic_run({.shape = {1, 12, 16}, .chains = 4}), out = scratch() / "out";

  Result call(const std::string& formats, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args{"export", run.string(), "--out", out.string(), "--format", formats};
    args.insert(args.end(), more.begin(), more.end());
    return penumbra(args);
  }
};

TEST_F(Export, WritesEveryFormat) {
  const auto result = call("npy,png,nifti,cfl", {"--pixel-mm", "0.9"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const std::string name : {"mean", "sd", "samples", "quantiles"}) {
    const auto array = io::read_npy(run / (name + ".npy"));
    EXPECT_TRUE(at::equal(io::read_npy(out / (name + ".npy")), array)) << name;
    EXPECT_EQ(read_text(out / (name + ".nii")), io::format_nifti(array, 0.9)) << name;
    EXPECT_TRUE(at::equal(at::real(io::read_complex(out / (name + ".cfl"))), array.squeeze())) << name;
    EXPECT_EQ(fs::exists(out / (name + ".png")), name != "quantiles") << name;
  }
  // Four samples in a square, a pixel between them.
  EXPECT_EQ(io::read_image(out / "samples.png").sizes(), (std::vector<int64_t>{1, 2 * 12 + 1, 2 * 16 + 1}));
  EXPECT_TRUE(contains(result.out, "black 0, white"));
}

TEST_F(Export, TakesTwoChannelsForAComplexNumber) {
  run = write_synthetic_run({.shape = {2, 12, 16}, .chains = 4});
  ASSERT_EQ(call("cfl,png").code, 0);
  const auto mean = io::read_npy(run / "mean.npy");
  EXPECT_TRUE(at::equal(at::view_as_real(io::read_complex(out / "mean.cfl")), mean.permute({1, 2, 0})));
  const auto magnitude = mean.square().sum(0).sqrt();
  const auto shown = io::read_image(out / "mean.png", 0, 1)[0];
  // Both are largest at the same pixel, up to the share of values that is cut off at white.
  EXPECT_EQ(shown.flatten()[magnitude.argmax().item<int64_t>()].item<double>(), 1);
}

TEST_F(Export, OverwritesNothing) {
  fs::create_directories(out);
  write_text(out / "sd.nii", "mine");
  const auto refused = call("npy,nifti");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "sd.nii: is there already")) << refused.err;
  EXPECT_EQ(read_text(out / "sd.nii"), "mine");
  EXPECT_FALSE(fs::exists(out / "mean.npy"));
  EXPECT_EQ(call("npy").code, 0);
  out = run;
  EXPECT_EQ(call("npy").code, 2);
  EXPECT_EQ(call("nifti").code, 0);  // new files beside the run's own
}

TEST_F(Export, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(contains(call("npy,nifty").err,
                       "--format: expected npy, png, nifti, cfl or fits, found nifty; did you mean "
                       "nifti?"));
  EXPECT_EQ(call("nifti", {"--pixel-mm", "0"}).code, 2);
  EXPECT_FALSE(fs::exists(out));
  run = scratch();
  const auto empty = call("npy");
  EXPECT_EQ(empty.code, 2);
  EXPECT_TRUE(contains(empty.err, "config.yaml"));
}

TEST(ComplexMri, RunsFromTheCommandLine) {
  const auto folder = scratch();
  const auto config = folder / "c.yaml", truth = folder / "x.npy", y = folder / "y.npy", run = folder / "run";
  write_text(config,
             "prior: {kind: magnitude, prior: {kind: random_field, side: 16}}\n"
             "likelihood: {kind: mri, data: y.npy, mask: {kind: radial, lines: 5}, noise_sd: 0.05}\n"
             "sampler: {kind: pmc-pnp, steps: 20, step_size: 1e-4, sigma: 0.1}\nchains: 2\n");
  io::write_npy(truth, normal({3, 0, 0}, Stream::probe, at::empty({2, 16, 16}, at::kDouble)));
  auto result = penumbra({"observe", config.string(), "--truth", truth.string(), "--out", y.string()});
  EXPECT_EQ(result.code, 0) << result.err;
  result = penumbra({"sample", config.string(), "--out", run.string()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(io::read_npy(run / "mean.npy").sizes(), (std::vector<int64_t>{2, 16, 16}));
}

}  // namespace
}  // namespace penumbra::test
