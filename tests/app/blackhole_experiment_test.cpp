/// The experiment on black holes: what is observed, how reconstructions are judged and kept, which claims hold.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/experiments/interferometry/comparison.h"
#include "core/random.h"
#include "io/image.h"
#include "io/npy.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/program.h"
#include "vlbi/closures.h"

namespace penumbra::app::interferometry {
namespace {

using test::in_double;

constexpr int64_t side = 32;

const Tensor& hole() {
  static const auto image = generated_truths(1, side, 1).images[0];
  return image;
}

const SkyCase& sky() {
  static const auto made = observe_sky(hole(), m87_setup(), 5, in_double);
  return made;
}

TEST(Truths, DependOnSeedAndNumberAlone) {
  const auto two = generated_truths(2, 16, 3), three = generated_truths(3, 16, 3), other = generated_truths(2, 16, 4);
  EXPECT_TRUE(two.images.equal(three.images.narrow(0, 0, 2)));
  EXPECT_FALSE(two.images.equal(other.images));
  EXPECT_EQ(three.names.size(), 3u);
}

TEST(Truths, OfAFolderHaveTheGridAndTheirBrightestPixelAtOne) {
  const auto folder = test::scratch() / "skies";
  std::filesystem::create_directories(folder / "inner");
  io::write_npy(folder / "a.npy", 1e-9 * at::arange(64 * 64, at::kDouble).view({64, 64}));
  io::write_png(folder / "inner" / "b.png", at::full({40, 40}, 100, at::kByte));
  test::write_text(folder / "LICENSE", "not an image");
  const auto truths = folder_truths(folder, 5, 32);
  ASSERT_EQ(truths.images.sizes(), (at::IntArrayRef{2, 1, 32, 32}));
  EXPECT_EQ(truths.names, (std::vector<std::string>{"a.npy", "inner/b.png"}));
  EXPECT_DOUBLE_EQ(truths.images.amax({1, 2, 3}).min().item<double>(), 1);
  EXPECT_LT(truths.images[0][0][0][0].item<double>(), 0.05);
  EXPECT_TRUE(test::contains(test::message_of([&] { folder_truths(folder / "inner" / "none", 1, 32); }), "a folder"));
  io::write_npy(folder / "a.npy", at::zeros({64, 64}, at::kDouble));
  EXPECT_TRUE(test::contains(test::message_of([&] { folder_truths(folder, 5, 32); }), "a.npy: expected finite pixels"));
}

/// Closures do not know the stations' errors: those of calibrated and uncalibrated data are the same.
TEST(SkyCase, StationErrorsLeaveClosuresAsTheyAre) {
  const auto with = vlbi::form_closures(sky().observed), without = vlbi::form_closures(sky().calibrated);
  ASSERT_EQ(with.phases.size(), without.phases.size());
  ASSERT_EQ(with.amplitudes.size(), without.amplitudes.size());
  ASSERT_GT(with.phases.size(), 50u);
  for (size_t i = 0; i < with.phases.size(); ++i)
    EXPECT_NEAR(std::remainder(with.phases[i].value - without.phases[i].value, 2 * M_PI), 0, 1e-9);
  for (size_t i = 0; i < with.amplitudes.size(); ++i)
    EXPECT_NEAR(with.amplitudes[i].value, without.amplitudes[i].value, 1e-9);
  double changed = 0;
  for (size_t k = 0; k < sky().observed.visibilities.size(); ++k)
    changed += std::abs(sky().observed.visibilities[k].value - sky().calibrated.visibilities[k].value);
  EXPECT_GT(changed, 1);
}

/// The noise is what the preparation thinks it is. A mean of N squares has an SD of sqrt(2 / N), about 0.15 here, and
/// 1.4 times that where closures share legs: 3 SD are 0.6.
TEST(SkyCase, TheTruthExplainsTheData) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto misfits = observe_sky(hole(), m87_setup(), seed, in_double).likelihood->misfit(hole().unsqueeze(0));
    for (const auto& misfit : misfits) {
      if (misfit.term == "flux")
        EXPECT_LT(misfit.chi2.item<double>(), 1e-12);
      else
        sum += misfit.chi2.item<double>() / 8;
    }
  }
  EXPECT_NEAR(sum, 1, 0.6 / std::sqrt(8.0));
}

TEST(DirtyImage, HasTheFluxAndShowsTheSource) {
  const auto image = dirty_image(sky());
  EXPECT_GE(image.min().item<double>(), 0);
  EXPECT_NEAR(image.sum().item<double>() / hole().sum().item<double>(), 1, 1e-12);
  EXPECT_GT(judge(sky(), image.unsqueeze(0)).quality.ncc, 0.3);
}

TEST(Judge, TheShiftOfAnImageDoesNotCount) {
  const auto moved = hole().roll({3, -5}, {-2, -1}).unsqueeze(0);
  const auto r = judge(sky(), moved);
  EXPECT_TRUE(r.mean.equal(hole()));
  EXPECT_NEAR(r.quality.ncc, 1, 1e-12);
  EXPECT_FALSE(r.sd.defined());
  EXPECT_TRUE(std::isnan(r.quality.coverage));
}

/// Truth plus noise of SD s, each sample elsewhere: aligned, mean and SD are those of the noise. With 40 samples the
/// mean's PSNR is that of s / sqrt(40), and the truth lies within 3 SD of the mean where a Student's t of 39 degrees is
/// below 3 sqrt(40): everywhere.
TEST(Judge, SamplesAreMovedOntoOneAnotherAndOntoTheTruth) {
  const double s = 2e-4;  // so little that all of them fit
  std::vector<Tensor> samples;
  for (int64_t i = 0; i < 40; ++i) {
    const auto noise = normal({1, i, 0}, Stream::probe, at::empty({1, side, side}, at::kDouble));
    samples.push_back((hole() + s * noise).roll({i % 5 - 2, i % 3}, {-2, -1}));
  }
  const auto r = judge(sky(), at::stack(samples));
  const double range = (hole().max() - hole().min()).item<double>();
  // 1024 pixels: the mean square is known to sqrt(2 / 1024), 0.2 dB; 3 of them.
  EXPECT_NEAR(r.quality.psnr, 20 * std::log10(range / (s / std::sqrt(40.0))), 0.6);
  EXPECT_NEAR(r.quality.sd, s, 0.05 * s);
  EXPECT_EQ(r.quality.left_out, 0);
  EXPECT_EQ(r.quality.coverage, 1);
}

/// A turned source among twenty true ones.
TEST(Judge, WhatDoesNotFitIsLeftOut) {
  auto samples = hole().unsqueeze(0).repeat({20, 1, 1, 1});
  samples[7] = hole().flip({-2, -1});
  const auto r = judge(sky(), samples);
  EXPECT_NEAR(r.quality.left_out, 0.05, 1e-12);
  EXPECT_NEAR(r.quality.ncc, 1, 1e-12);
}

TEST(Judge, WhatDivergedHasNoNumbers) {
  const auto r = judge(sky(), at::full({3, 1, side, side}, std::nan(""), at::kDouble));
  EXPECT_TRUE(r.diverged);
  EXPECT_TRUE(std::isnan(r.quality.psnr));
}

TEST(Sample, RmlKnowsTheFluxAndFitsTheData) {
  const Method method{"MEM", "{kind: rml, entropy: 0.3, steps: 6, inner_steps: 300}"};
  const auto prior = make_prior(
      Settings::from_text("{kind: gaussian, image_shape: [1, 32, 32], mean: 0, variance: 1}", "test"), in_double);
  const auto prepared = prepare(method, sky(), prior, 1);
  const auto sampled = sample(prepared, prior, {.chains = 7, .seed = 1, .placement = in_double}, [](auto, auto) {});
  EXPECT_FALSE(prepared.entry->random);
  ASSERT_EQ(sampled.samples.sizes(), (at::IntArrayRef{1, 1, side, side}));
  EXPECT_TRUE(test::contains(prepared.resolved, fmt::format("prior_mean: {:.6g}", sky().mean_pixel())))
      << prepared.resolved;
  const auto r = judge(sky(), sampled.samples);
  EXPECT_LT(r.quality.chi2_phase, 2);
  EXPECT_LT(r.quality.chi2_amplitude, 2);
  EXPECT_GT(r.quality.ncc, judge(sky(), dirty_image(sky()).unsqueeze(0)).quality.ncc - 0.3);
}

/// 10 chains on a CPU go in two batches; every fifth of the last five iterates is the last.
TEST(Sample, ChainsDoNotDependOnTheirBatch) {
  const Method method{"APMC",
                      "{kind: apmc-red, steps: 12, step_size: 1e-5, schedule: {sigma_0: 1, sigma_min: 0.1, xi: 0.8, "
                      "alpha_0: 100}}"};
  const auto prior = make_prior(
      Settings::from_text("{kind: gaussian, image_shape: [1, 32, 32], mean: 0.1, variance: 0.05}", "test"), in_double);
  const auto prepared = prepare(method, sky(), prior, 1);
  const auto quietly = [](int64_t, int64_t) {};
  const auto ten = sample(prepared, prior, {.chains = 10, .seed = 1, .placement = in_double}, quietly);
  const auto eight = sample(prepared, prior, {.chains = 8, .seed = 1, .placement = in_double}, quietly);
  ASSERT_EQ(ten.last.size(0), 10);
  EXPECT_LT(test::relative_error(ten.last.narrow(0, 0, 8), eight.last), 1e-9);
}

TEST(Kept, ComesBackUnlessItWasMadeFromSomethingElse) {
  const auto folder = test::scratch();
  const auto samples = hole().unsqueeze(0) + 0.01 * normal({1, 0, 0}, Stream::probe, hole().expand({4, 1, side, side}));
  for (const auto& r : {judge(sky(), samples), judge(sky(), samples.narrow(0, 0, 1))}) {
    keep(r, folder, "key", "these settings");
    EXPECT_FALSE(kept(folder, "key", "others"));
    const auto back = kept(folder, "key", "these settings");
    ASSERT_TRUE(back);
    EXPECT_EQ(back->sd.defined(), r.sd.defined());
    EXPECT_LT(test::relative_error(back->mean, r.mean), 1e-6);
    for (const auto& [name, value] : quality_fields()) {
      const double a = back->quality.*value, b = r.quality.*value;
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << name;
    }
  }
}

MethodResults with(const std::string& method, Quality quality) {
  Reconstruction r;
  r.quality = quality;
  r.mean = hole();
  if (is_apmc(method)) r.sd = 0.1 * hole();
  return {method, {r, r}};
}

/// Of the samples that fit phases have chi2, of all chi2_all; amplitudes have 1.
Comparison results(double psnr, double chi2, double coverage, double chi2_all = 1) {
  Comparison c;
  c.truths = generated_truths(2, side, 1);
  const double none = std::nan("");
  c.methods = {with("dirty", {.psnr = 15, .coverage = none}), with("MEM", {.psnr = 24, .coverage = none}),
               with("APMC-PnP", {.psnr = psnr,
                                 .chi2_phase = chi2,
                                 .chi2_amplitude = 1,
                                 .chi2_phase_all = chi2_all,
                                 .chi2_amplitude_all = 1,
                                 .coverage = coverage})};
  return c;
}

TEST(BlackholeClaims, HoldOrFailByTheNumbers) {
  const auto passed = [](const Comparison& c) {
    std::string marks;
    for (const auto& check : claims(c)) marks += check.passed ? '+' : '-';
    return marks;
  };
  // Phases of all samples, of those that fit; amplitudes likewise; the rival; coverage.
  EXPECT_EQ(passed(results(25, 1.1, 0.95)), "++++++");
  EXPECT_EQ(passed(results(23, 1.1, 0.95)), "++++-+");  // MEM is nearer
  EXPECT_EQ(passed(results(25, 1.4, 0.95)), "+-++++");
  EXPECT_EQ(passed(results(25, 1.1, 0.95, 1.4)), "-+++++");
  EXPECT_EQ(passed(results(25, 0.7, 0.8)), "+-+++-");
  auto diverged = results(20, 1, 0.95);
  diverged.methods[1].images[0].diverged = true;
  EXPECT_EQ(passed(diverged), "++++++");  // what diverged is no rival; 20 dB beat the dirty image
  auto lost = results(25, 1.1, 0.95);
  lost.methods[2].images[1].diverged = true;
  EXPECT_EQ(passed(lost), "-");  // the other image's numbers are not asked
}

TEST(ContactSheet, HasARowForEverySkyAndAColumnForEveryPicture) {
  const auto c = results(25, 1, 0.95);
  EXPECT_EQ(contact_columns(c), (std::vector<std::string>{"truth", "dirty", "MEM", "APMC-PnP", "SD of APMC-PnP"}));
  const auto bytes = contact_sheet(c);
  EXPECT_EQ(bytes.sizes(), (at::IntArrayRef{3, 2 * (2 * side + 4), 5 * (2 * side + 4)}));
  EXPECT_TRUE(std::isnan(c.methods[0].average(&Quality::coverage)));
}

}  // namespace
}  // namespace penumbra::app::interferometry
