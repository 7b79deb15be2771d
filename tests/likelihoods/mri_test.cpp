/// `likelihood.kind: mri` from its configuration: simulated scans whose every part is known.
#include "likelihoods/mri.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "io/cfl.h"
#include "io/npy.h"
#include "models/coil_image.h"
#include "models/fourier.h"
#include "models/sampling_mask.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/program.h"
#include "support/scan.h"
#include "support/scans.h"

namespace penumbra {
namespace {

using test::contains;
using test::in_double;
using test::message_of;

struct MriConfiguration : testing::Test {
  std::filesystem::path folder = test::scratch();

  std::shared_ptr<const MriLikelihood> make(const std::string& text, const Shape& image_shape,
                                            Purpose purpose = Purpose::sample) const {
    auto settings = Settings::from_text(text, "c.yaml", folder);
    auto likelihood = make_likelihood(settings, image_shape, in_double, purpose);
    settings.finish();
    return std::dynamic_pointer_cast<const MriLikelihood>(likelihood);
  }
  void expect_refused(const std::string& text, const std::vector<std::string>& words,
                      Purpose purpose = Purpose::sample) const {
    const auto message = message_of([&] { make(text, {1, 16, 16}, purpose); });
    for (const auto& word : words) EXPECT_TRUE(contains(message, word)) << word << " in: " << message;
  }
  static Tensor random_image(const Shape& shape) { return test::numbers(3, shape); }
};

/// A scan of 12 x 16 in an image of 16 x 16: four rows that nothing sees.
TEST_F(MriConfiguration, WhatNoCoilSeesIsAir) {
  const std::string text =
      "kind: mri, mask: {kind: cartesian, acceleration: 2}, noise_sd: 0.05, image: {values: magnitude}";
  io::write_npy(folder / "y.npy", at::ones({1, 12, 16}, at::kComplexFloat));
  const auto likelihood = make("{" + text + ", data: y.npy}", {1, 16, 16});
  const auto x = random_image({2, 1, 16, 16});
  const auto grad = likelihood->grad(x);
  const double L_g = *likelihood->lipschitz();
  const auto outside = [](const Tensor& image) { return at::cat({image.narrow(2, 0, 2), image.narrow(2, 14, 2)}, 2); };
  // Black is -1 for a magnitude.
  EXPECT_LT(test::relative_error(outside(grad), L_g * outside(x + 1)), 1e-12);
  // The whole gradient is that of the value: central differences, error of order h^2 = 1e-10 relative to g's third
  // derivative, which is zero.
  const auto v = normal({4, 0, 0}, Stream::probe, x);
  const double h = 1e-5;
  const auto slope = (likelihood->value(x + h * v) - likelihood->value(x - h * v)) / (2 * h);
  EXPECT_LT(test::relative_error(slope, flat(grad * v).sum(1)), 1e-6);
  // A scan as large as the image leaves nothing unseen.
  io::write_npy(folder / "y.npy", at::ones({1, 16, 16}, at::kComplexFloat));
  const auto whole = make("{" + text + ", data: y.npy}", {1, 16, 16});
  EXPECT_LT(
      test::relative_error(whole->grad(x), whole->model().vjp(x, whole->model().apply(x) - whole->data()) / 0.0025),
      1e-12);
}

TEST_F(MriConfiguration, WhatIsObservedIsReadBack) {
  const std::string text = "kind: mri, mask: {kind: radial, lines: 4}, noise_sd: 0.05";
  const auto x = random_image({1, 1, 16, 16});
  const auto y = make("{" + text + "}", {1, 16, 16}, Purpose::simulate)->simulate(x, {5, 0, 0});
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{1, 1, 16, 16}));
  EXPECT_EQ(y.scalar_type(), at::kComplexFloat);
  const auto mask = radial_mask(16, 16, 4);
  EXPECT_TRUE(y[0][0].ne(0).equal(mask));
  io::write_npy(folder / "y.npy", y[0]);
  for (const std::string& config :
       {"{" + text + ", data: y.npy}", std::string("{kind: mri, noise_sd: 0.05, data: y.npy}")}) {
    const auto likelihood = make(config, {1, 16, 16});
    EXPECT_LT(test::relative_error(likelihood->data(), y[0][0].masked_select(mask).unsqueeze(0).to(at::kComplexDouble)),
              1e-6);
    const auto misfit = likelihood->misfit(x).at(0);
    EXPECT_EQ(misfit.data_count, 2 * mask.sum().item<int64_t>());
    EXPECT_NEAR(misfit.chi2.item<double>(), 1, 4 * std::sqrt(2.0 / static_cast<double>(misfit.data_count)));
  }
}

TEST_F(MriConfiguration, MagnitudeValuesAreMovedIntoTheData) {
  // Intensity 3 (x + 1) / 2 in a scan larger than the image: g must be that of the affine model.
  const auto x = random_image({2, 1, 6, 5});
  auto grid = test::complex_noise({1, 8, 9}, 1);
  io::write_npy(folder / "y.npy", grid);
  const auto likelihood =
      make("{kind: mri, data: y.npy, noise_sd: 0.5, image: {values: magnitude, scale: 3}}", {1, 6, 5});
  auto scene = at::zeros({2, 1, 8, 9}, at::kDouble);
  scene.narrow(2, 1, 6).narrow(3, 2, 5).copy_(1.5 * (x + 1));
  const auto residual = centred_fft(scene) - grid;
  const auto expected = at::abs(residual).square().flatten(1).sum(1) / (2 * 0.25);
  EXPECT_LT(test::relative_error(likelihood->value(x), expected), 1e-6);  // the file's numbers are read as float32
  EXPECT_TRUE(likelihood->model().linear());
  // The noise comes on top of the whole intensity.
  const auto y = likelihood->simulate(x, {1, 0, 0});
  EXPECT_LT((y - centred_fft(scene)).abs().max().item<double>(), 0.5 * 6);
}

/// 230 x 180 is a real scan; this one has its proportions.
struct ScanOfCoils : MriConfiguration {
  static constexpr int64_t height = 92, width = 72, coils = 4;
  Tensor object = test::phantom(height, width), maps = test::smooth_coils(coils, height, width);
  Tensor colour = (at::diag(at::tensor({0.02, 0.01, 0.03, 0.02}, at::kDouble)).to(at::kComplexDouble) +
                   0.005 * test::complex_noise({coils, coils}, 1))
                      .tril();
  Tensor noise = colour.matmul(test::complex_noise({coils, height* width}, 2)).view({coils, height, width});

  void SetUp() override {
    maps = maps / maps.norm(2, {0}, true);
    io::write_npy(folder / "scan.npy", (centred_fft(maps * object) + noise).to(at::kComplexFloat));
    io::write_npy(folder / "maps.npy", maps);
  }
};

TEST_F(ScanOfCoils, NoiseIsWhitened) {
  const auto likelihood = make("{kind: mri, data: scan.npy, coils: {kind: file, file: maps.npy}}", {1, height, width});
  EXPECT_EQ(likelihood->noise_sd(), 1);
  const auto x = object.unsqueeze(0).unsqueeze(0);
  const auto left = (likelihood->data() - likelihood->model().apply(x)[0]);
  const auto covariance = left.matmul(left.conj().t()) / (2.0 * static_cast<double>(left.size(1)));
  // 662 samples of the rim, half of them used: the level, a mean over the coils, to 5 %; single elements to four times
  // 1/sqrt(331).
  EXPECT_NEAR(at::real(covariance.diagonal()).mean().item<double>(), 1, 0.05);
  EXPECT_LT((covariance - at::eye(coils, at::kDouble)).abs().max().item<double>(), 0.22);
  EXPECT_NEAR(likelihood->misfit(x).at(0).chi2.item<double>(), 1, 0.05);
  // A simulated scan has the scanner's noise again.
  const auto again =
      (likelihood->simulate(x, {2, 0, 0})[0].to(at::kComplexDouble) - centred_fft(maps * object)).flatten(1);
  const auto scanner = again.matmul(again.conj().t()) / (2.0 * static_cast<double>(again.size(1)));
  EXPECT_LT(test::relative_distance(colour.matmul(colour.conj().t()), scanner), 0.2);
}

TEST_F(ScanOfCoils, LipschitzConstantIsABoundAndClose) {
  const auto likelihood =
      make("{kind: mri, data: scan.npy, coils: {kind: file, file: maps.npy}, image: {scale: 3}}", {1, height, width});
  const double found = *likelihood->GaussianLikelihood::lipschitz(), bound = *likelihood->lipschitz();
  EXPECT_GE(bound, found);
  EXPECT_LT(bound, 1.05 * found);  // all of k-space is measured: only the steps of the iteration are missing
}

TEST_F(ScanOfCoils, LevelOfTheNoiseMayBeGiven) {
  const double level = 0.05;
  for (const bool whiten : {true, false}) {
    const auto likelihood = make(fmt::format("{{kind: mri, data: scan.npy, coils: {{kind: file, file: maps.npy}}, "
                                             "noise_sd: {}, whiten: {}}}",
                                             level, whiten),
                                 {1, height, width});
    EXPECT_EQ(likelihood->noise_sd(), level);
  }
  const auto plain =
      make("{kind: mri, data: scan.npy, coils: {kind: file, file: maps.npy}, whiten: false}", {1, height, width});
  const auto exact = std::sqrt(at::real(colour.matmul(colour.conj().t()).diagonal()).mean().item<double>());
  EXPECT_NEAR(*plain->noise_sd() / exact, 1, 0.05);
}

TEST_F(ScanOfCoils, CoilsScaleAndPhaseAreEstimated) {
  // Everything from the file: x that explains the data is the object, 1 being its white.
  const auto likelihood = make(
      "{kind: mri, data: scan.npy, mask: {kind: poisson_disc, acceleration: 2, calibration: 32}, coils: {kind: "
      "estimated}, "
      "image: {values: magnitude, pixel_range: [0, 1], scale: auto, phase: estimated}}",
      {1, height, width});
  EXPECT_NEAR(2.0 * static_cast<double>(likelihood->data().size(1)), static_cast<double>(height * width), 2);
  const auto& A = likelihood->model();
  auto x = at::zeros({1, 1, height, width}, at::kDouble);
  const double step = 1 / *likelihood->lipschitz();
  for (int k = 0; k < 100; ++k) x = x - step * likelihood->grad(x);  // least squares
  const auto inside = object > 0.1;
  const auto ratio = (x[0][0] / object).masked_select(inside);
  // White is 99.7 % of a blurred object: up to a few percent too low, so x is a few percent too high.
  EXPECT_NEAR(ratio.mean().item<double>(), 1, 0.08);
  EXPECT_LT(ratio.std().item<double>(), 0.2);
  EXPECT_LT(likelihood->misfit(x).at(0).chi2.item<double>(), 2);
  EXPECT_EQ(A.data_shape()[0], coils);
}

TEST_F(ScanOfCoils, PhaseIsResolvedBeyondTheFullySampledCentre) {
  // Four cycles and their overtones: finer than a centre of 12 points, six cycles, shows.
  const auto x = test::coordinate(width).unsqueeze(0).expand({height, width});
  const auto turning = at::polar(at::ones({height, width}, at::kDouble), (4 * M_PI * x).sin());
  const auto kspace = centred_fft(maps * object * turning) + noise;
  io::write_npy(folder / "turning.npy", kspace.to(at::kComplexFloat));
  const auto likelihood = make(
      "{kind: mri, data: turning.npy, coils: {kind: file, file: maps.npy}, "
      "mask: {kind: poisson_disc, acceleration: 2, calibration: 12}, "
      "image: {values: magnitude, pixel_range: [0, 1], phase: estimated}}",
      {1, height, width});
  const auto chi2 = [&](const Tensor& image) {
    return likelihood->misfit(image.unsqueeze(0).unsqueeze(0)).at(0).chi2.item<double>();
  };
  // What is not explained, as a part of the data.
  EXPECT_LT(chi2(object) / chi2(at::zeros_like(object)), 0.02);
  auto centre = at::zeros({height, width}, at::kBool);
  around_centre(around_centre(centre, 0, 12), 1, 12).fill_(true);
  const auto coarse = low_resolution_image(kspace, centre, maps).sgn();
  EXPECT_GT(((coarse - turning) * object).norm().square().item<double>() / object.norm().square().item<double>(), 0.1);
  // The reference is the magnitude, whatever the estimate of the phase is.
  const auto error = likelihood->pictures().acquired[0] - object;
  EXPECT_LT(error.abs().max().item<double>(), 5 * 0.05);
}

TEST_F(ScanOfCoils, ComplexImagesNeedNoPhase) {
  const auto likelihood = make("{kind: mri, data: scan.npy, coils: {kind: file, file: maps.npy}}", {2, height, width});
  const auto x = at::stack({object, at::zeros_like(object)}).unsqueeze(0);
  EXPECT_NEAR(likelihood->misfit(x).at(0).chi2.item<double>(), 1, 0.05);
}

TEST_F(ScanOfCoils, OrientationIsThatOfTheScan) {
  // The prior's image lies on its side: turned by a quarter counter-clockwise and mirrored it is the scan's.
  const auto likelihood =
      make("{kind: mri, data: scan.npy, coils: {kind: file, file: maps.npy}, image: {rotate_degrees: 90, flip: true}}",
           {1, width, height});
  const auto lying = object.flip({1}).rot90(-1, {0, 1}).unsqueeze(0).unsqueeze(0);
  EXPECT_NEAR(likelihood->misfit(lying).at(0).chi2.item<double>(), 1, 0.05);
}

TEST_F(ScanOfCoils, PicturesAreImagesOfThePrior) {
  // A real image of another size and orientation, with a phase: all acquired data give the object back, plus noise.
  const auto turning = at::polar(at::ones({height, width}, at::kDouble), 2 * object);
  io::write_npy(folder / "turning.npy", (centred_fft(maps * object * turning) + noise).to(at::kComplexFloat));
  const auto likelihood = make(
      "{kind: mri, data: turning.npy, coils: {kind: file, file: maps.npy}, mask: {kind: cartesian, acceleration: 3}, "
      "image: {values: magnitude, scale: 2, rotate_degrees: 270}}",
      {2, width + 4, height - 6});
  const auto& [all, measured] = likelihood->pictures();
  const auto z = at::complex(all[0], all[1]).narrow(0, 2, width);
  const auto expected = (object * turning).rot90(-3, {0, 1}).narrow(1, 3, height - 6);
  // |z| of 2 is intensity 2, so z is the object; the noise of the combination is below 0.05 in each component.
  EXPECT_LT((z - expected).abs().max().item<double>(), 5 * 0.05);
  EXPECT_GT((measured - all).norm().item<double>(), 0.1 * all.norm().item<double>());
}

TEST_F(MriConfiguration, WhiteIsThatOfThePriorsImage) {
  // With one coil and noise one, L_g is the square of what one unit of x is in the scan.
  auto scene = at::zeros({64, 80}, at::kDouble);
  scene.narrow(0, 28, 8).narrow(1, 38, 4).fill_(5);
  io::write_npy(folder / "y.npy", centred_fft(scene).to(at::kComplexFloat));
  const auto gain = [&](const Shape& shape, const std::string& more) {
    const auto likelihood = make("{kind: mri, data: y.npy, noise_sd: 1, image: {scale: auto" + more + "}}", shape);
    return std::sqrt(*likelihood->lipschitz());
  };
  EXPECT_NEAR(gain({1, 16, 10}, ""), 5, 1e-3);
  EXPECT_NEAR(gain({1, 10, 16}, ", rotate_degrees: 90"), 5, 1e-3);
  EXPECT_NEAR(gain({1, 64, 80}, ""), 5, 1e-3);  // 32 of 5120 pixels are 0.6 %
  EXPECT_NEAR(gain({1, 200, 200}, ""), 5, 1e-3);
  scene.narrow(0, 0, 8).fill_(50);  // outside of what a small image shows
  io::write_npy(folder / "y.npy", centred_fft(scene).to(at::kComplexFloat));
  EXPECT_NEAR(gain({1, 16, 10}, ""), 5, 1e-3);
}

TEST_F(MriConfiguration, BothFilesOfBartsPairBelongToTheData) {
  io::write_cfl(folder / "k", test::complex_noise({3, 16, 16}, 1), {io::cfl_coil});
  io::write_cfl(folder / "maps", test::complex_noise({3, 16, 16}, 2), {io::cfl_coil});
  auto settings = Settings::from_text("{kind: mri, data: k.cfl, noise_sd: 1, coils: {kind: file, file: maps.hdr}}",
                                      "c.yaml", folder);
  make_likelihood(settings, {1, 16, 16}, in_double);
  std::set<std::string> names;
  for (const auto& file : settings.files()) names.insert(file.filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"k.cfl", "k.hdr", "maps.cfl", "maps.hdr"}));
}

TEST_F(MriConfiguration, AveragesHaveLessNoiseThanTheNoiseScan) {
  if (!test::writes_ismrmrd()) GTEST_SKIP() << "built without ISMRMRD";
  constexpr int noise_flag = 19;
  const auto full = test::complex_noise({1, 16, 16}, 1).to(at::kComplexFloat);
  std::vector<test::Line> lines{
      {.samples = (0.5 * test::complex_noise({1, 4000}, 2)).to(at::kComplexFloat), .flags = {noise_flag}}};
  for (int average = 0; average < 4; ++average)
    for (int step = 0; step < 16; ++step)
      lines.push_back({.samples = full.select(2, step), .step = step, .average = average, .centre = 8});
  const auto xml = test::ismrmrd_xml(16, 16, 8);
  test::write_ismrmrd(folder / "four.h5", xml, lines);
  // 8,000 numbers: the SD is known to 1/sqrt(16,000), five of which are 4 %.
  EXPECT_NEAR(*make("{kind: mri, data: four.h5}", {1, 16, 16})->noise_sd(), 0.5 / 2, 0.04 * 0.25);
  lines.pop_back();
  test::write_ismrmrd(folder / "uneven.h5", xml, lines);
  expect_refused("{kind: mri, data: uneven.h5}", {"noise_sd", "averages", "uneven.h5", "3 to 4", "number"});
  EXPECT_EQ(make("{kind: mri, data: uneven.h5, noise_sd: 0.25}", {1, 16, 16})->noise_sd(), 0.25);
}

struct BadScans : MriConfiguration {
  void SetUp() override {
    const auto good = test::complex_noise({3, 16, 16}, 1);
    io::write_npy(folder / "good.npy", good);
    io::write_npy(folder / "one.npy", good[0]);
    auto spoilt = good.clone();
    spoilt[1][2][3] = NAN;
    io::write_npy(folder / "nan.npy", spoilt);
    io::write_npy(folder / "zeros.npy", at::zeros_like(good));
    auto holes = good.clone();
    holes.select(1, 8).zero_();  // the row of the zero frequency
    io::write_npy(folder / "holes.npy", holes);
    io::write_npy(folder / "maps.npy", test::complex_noise({3, 16, 17}, 2));
    io::write_npy(folder / "none.npy", at::zeros({16, 16}, at::kDouble));
    io::write_npy(folder / "wide.npy", at::ones({16, 20}, at::kDouble));
    auto dead = good.clone();
    dead[1].zero_();
    io::write_npy(folder / "dead.npy", dead);
  }
};

TEST_F(BadScans, AreRefusedByNameAndField) {
  expect_refused("{kind: mri, data: nan.npy}", {"nan.npy", "NaN"});
  expect_refused("{kind: mri, data: zeros.npy}", {"zeros.npy", "zeros alone"});
  expect_refused("{kind: mri, data: good.npy, slice: 4}", {"good.npy", "slice"});
  expect_refused("{kind: mri, data: good.npy, mask: {kind: file, file: wide.npy}}",
                 {"wide.npy", "mask", "16x16", "16x20"});
  expect_refused("{kind: mri, data: good.npy, mask: {kind: file, file: none.npy}}", {"mask", "empty"});
  expect_refused("{kind: mri, data: good.npy, coils: {kind: file, file: maps.npy}}",
                 {"maps.npy", "coil maps", "3x16x16", "3x16x17"});
  expect_refused("{kind: mri, data: good.npy, coils: {kind: single}}", {"coils.kind", "good.npy", "3 coils"});
  expect_refused("{kind: mri, data: one.npy, coils: {kind: estimated}}", {"coils.kind", "one.npy", "several coils"});
  expect_refused("{kind: mri, data: holes.npy}", {"coils.kind", "12x12", "0x0", "holes.npy"});
  expect_refused("{kind: mri, data: good.npy, coils: {calibration: 40}}",
                 {"coils.calibration", "40x40", "16x16", "good.npy"});
  expect_refused("{kind: mri, data: good.npy, coils: {calibration: 8}}", {"coils.calibration", "12x12"});
  expect_refused("{kind: mri, data: dead.npy, coils: {crop: 0}}", {"noise_sd", "dead.npy"});
  expect_refused("{kind: mri, data: one.npy, noise_sd: loud}", {"noise_sd", "a number > 0 or auto", "loud"});
  expect_refused("{kind: mri, data: one.npy, noise_sd: 1, image: {rotate_degrees: 45}}",
                 {"image.rotate_degrees", "45"});
  expect_refused("{kind: mri, data: one.npy, noise_sd: 1, image: {values: magnitude, pixel_range: [1, 0]}}",
                 {"image.pixel_range"});
  expect_refused("{kind: mri, data: one.npy, noise_sd: 1, image: {scale: -2}}", {"image.scale"});
  expect_refused("{kind: mri, data: one.npy, noise_sd: 1, colis: {kind: single}}", {"colis", "coils"});
}

TEST_F(BadScans, AMaskOfPointsThatTheFileLacksIsRefused) {
  auto few = at::zeros({16, 16}, at::kComplexDouble);
  few.select(0, 8).fill_(1);
  io::write_npy(folder / "few.npy", few);
  expect_refused("{kind: mri, data: few.npy, noise_sd: 1, mask: {kind: radial, lines: 4}}", {"mask.kind", "few.npy"});
}

TEST_F(BadScans, WithoutDataNothingIsEstimated) {
  const std::string mask = "mask: {kind: radial, lines: 4}";
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    expect_refused("{kind: mri, " + text + "}", words, Purpose::simulate);
  };
  refused("noise_sd: 1", {"mask.kind", "no data"});
  refused(mask + ", noise_sd: auto", {"noise_sd", "no data"});
  refused(mask, {"noise_sd", "number"});
  refused(mask + ", noise_sd: 1, coils: {kind: estimated}", {"coils.kind", "no data"});
  refused(mask + ", noise_sd: 1, image: {scale: auto}", {"image.scale", "no data"});
  refused(mask + ", noise_sd: 1, image: {phase: estimated}", {"image.phase", "no data"});
  EXPECT_EQ(
      make("{kind: mri, mask: {kind: cartesian, acceleration: 2}, noise_sd: 1, coils: {kind: file, file: good.npy}}",
           {1, 20, 12}, Purpose::simulate)
          ->simulate(random_image({1, 1, 20, 12}), {})
          .sizes(),
      (std::vector<int64_t>{1, 3, 16, 16}));
}

TEST_F(MriConfiguration, RunsFromTheCommandLine) {
  const auto config = folder / "c.yaml", truth = folder / "x.npy", y = folder / "y.npy", run = folder / "run";
  test::write_text(config,
                   "prior: {kind: random_field, side: 16}\n"
                   "likelihood: {kind: mri, data: y.npy, mask: {kind: radial, lines: 5}, noise_sd: 0.05}\n"
                   "sampler: {kind: pmc-pnp, steps: 20, step_size: 1e-4, sigma: 0.1}\nchains: 2\n");
  io::write_npy(truth, random_image({1, 16, 16}));
  auto result = test::penumbra({"observe", config.string(), "--truth", truth.string(), "--out", y.string()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(io::read_npy(y).sizes(), (std::vector<int64_t>{1, 16, 16}));
  result = test::penumbra({"sample", config.string(), "--out", run.string()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(std::filesystem::exists(run / "report.html"));
  const auto shown = folder / "shown.npy";
  result = test::penumbra({"reference", config.string(), "--out", shown.string()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(io::read_npy(shown).sizes(), (std::vector<int64_t>{1, 16, 16}));
  result =
      test::penumbra({"reference", config.string(), "--set", "likelihood.clip_gradient=10", "--out", shown.string()});
  EXPECT_EQ(result.code, 0) << result.err;
  result = test::penumbra({"reference", test::small_problem().string(), "--out", shown.string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "likelihood.kind")) << result.err;
}

}  // namespace
}  // namespace penumbra
