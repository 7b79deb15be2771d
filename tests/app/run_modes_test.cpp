/// The modes and rings of samples as a run's files, and what the report shows of them.
#include "app/run_modes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/evaluate_run.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "report/csv.h"
#include "report/run_report.h"
#include "report/synthetic_run.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

constexpr double fov = 128;
constexpr int64_t ring_side = 32, count = 40;

/// A ring of diameter 42 with its light in the direction `degrees` East of North and a little noise.
Tensor ring_image(double degrees, int64_t chain) {
  const auto place = (static_cast<double>(ring_side - 1) / 2 - at::arange(ring_side, at::kDouble)) * fov / ring_side;
  const auto east = place.unsqueeze(0), north = place.unsqueeze(1);
  const auto r = (east.square() + north.square()).sqrt(), phi = at::atan2(east, north);
  const auto ring = at::exp(-(r - 21).square() / 72) * (1 + 0.8 * at::cos(phi - degrees * M_PI / 180));
  return (ring + 0.01 * normal({1, chain, 0}, Stream::truth, at::empty({1, ring_side, ring_side}, at::kDouble))[0])
      .unsqueeze(0);
}

/// Chains 0, 3, 6... have their light in the North, the others in the South: 14 and 26.
Tensor two_kinds() {
  std::vector<Tensor> images;
  for (int64_t i = 0; i < count; ++i) images.push_back(ring_image(i % 3 == 0 ? 0 : 180, i));
  return at::stack(images);
}

/// chi^2 is the brightness of one pixel: enough to be told apart.
class OnePixel final : public Likelihood {
 public:
  OnePixel() : Likelihood({1, ring_side, ring_side}) {}
  std::vector<Misfit> misfit(const Tensor& x) const override { return {{"pixel", flat(x).select(1, 5), 1}}; }
  Tensor simulate(const Tensor& x, const Cursor&) const override { return x; }

 private:
  Tensor do_value(const Tensor& x) const override { return flat(x).sum(1); }
  Tensor do_grad(const Tensor& x) const override { return x; }
};

ModesPlan sky_plan() {
  ModesPlan plan;
  plan.options.align = diagnostics::Align::shift;
  plan.options.max_shift = 4;
  plan.ring = diagnostics::RingOptions{.fov = fov};
  return plan;
}

std::filesystem::path sky_run() {
  const auto run = test::write_synthetic_run({.shape = {1, ring_side, ring_side}, .chains = count, .evaluated = false});
  io::write_npy(run / "samples.npy", two_kinds().to(at::kFloat));
  return run;
}

json summary_of(const std::filesystem::path& run) { return json::parse(io::read_file(run / "summary.json")); }

TEST(RunModes, WritesTheModesAndTheirRings) {
  const auto run = sky_run();
  const auto samples = two_kinds();
  const auto found = write_modes(run, sky_plan(), OnePixel(), samples, 0);
  const auto modes = json::parse(io::read_file(run / "modes.json"));
  ASSERT_EQ(modes["modes"].size(), 2u);
  EXPECT_NEAR(modes["modes"][0]["weight"].get<double>(), 26.0 / 40, 1e-12);
  EXPECT_NEAR(modes["modes"][0]["weight_error"].get<double>(), std::sqrt(26.0 * 14 / 40 / 40 / 40), 1e-12);
  EXPECT_EQ(modes["per_sample"]["label"][0], 1);
  EXPECT_EQ(modes["per_sample"]["label"][1], 0);
  EXPECT_EQ(modes["map"]["x"].size(), static_cast<size_t>(count));
  EXPECT_NEAR(modes["per_sample"]["chi2"]["pixel"][7].get<double>(), flat(samples)[7][5].item<double>(), 1e-12);
  EXPECT_EQ(io::read_npy(run / "modes" / "mean-2.npy").sizes(), (Shape{1, ring_side, ring_side}));
  EXPECT_NE(found.verdict.text.find("2 modes of weight 0.65 +- 0.08, 0.35 +- 0.08"), std::string::npos)
      << found.verdict.text;

  const auto& ring = found.summary["ring"];
  EXPECT_EQ(ring["with_ring"], count);
  // A blur of SD s moves the ridge of a circle of radius R inwards by s^2/2R; two pixels of 4 are s = 3.4.
  EXPECT_NEAR(ring["diameter"]["mean"].get<double>(), 42 - 3.4 * 3.4 / 21, 0.42);
  EXPECT_LT(std::abs(ring["by_mode"][1]["orientation"]["mean"].get<double>()), 1);
  EXPECT_GT(std::abs(ring["by_mode"][0]["orientation"]["mean"].get<double>()), 179);
  const auto table = report::numbers_of(report::read_csv(run / "ring.csv"));
  EXPECT_EQ(table.at("diameter").size(), static_cast<size_t>(count));
  EXPECT_EQ(table.at("mode")[0], 2);
}

/// One datum: chi^2 up to 1 + 3 sqrt(2).
TEST(RunModes, WhatDoesNotFitIsLeftOutOfEverything) {
  const auto run = sky_run();
  auto samples = two_kinds();
  flat(samples)[3][5] = 100;
  auto plan = sky_plan();
  EXPECT_TRUE(write_modes(run, plan, OnePixel(), samples, 0).sample_weights.empty()) << "not asked for";
  plan.only_fitting = true;
  const auto found = write_modes(run, plan, OnePixel(), samples, 0);
  EXPECT_EQ(found.weighed_by, "fit");
  ASSERT_EQ(found.sample_weights.size(), static_cast<size_t>(count));
  EXPECT_EQ(found.sample_weights[3], 0);
  EXPECT_NEAR(found.sample_weights[4], 1.0 / (count - 1), 1e-12);
  EXPECT_NE(found.verdict.text.find("1 of 40 samples are left out"), std::string::npos) << found.verdict.text;
  const auto modes = json::parse(io::read_file(run / "modes.json"));
  EXPECT_EQ(modes["left_out"]["samples"], json::array({3}));
  EXPECT_EQ(modes["samples"], count - 1);
  EXPECT_EQ(modes["per_sample"]["sample"][3], 4);
  EXPECT_EQ(modes["per_sample"]["label"].size(), static_cast<size_t>(count - 1));
  EXPECT_LT(io::read_npy(run / "modes" / "aligned-mean.npy").max().item<double>(), 50);
  const auto table = report::numbers_of(report::read_csv(run / "ring.csv"));
  EXPECT_EQ(table.at("sample")[3], 4);
}

/// One image in several places: aligned it is that image again, whose SD is the noise's, 0.01.
TEST(RunModes, AlignedMomentsDoNotSeeWhereTheSamplesAre) {
  const auto run = sky_run();
  std::vector<Tensor> images;
  for (int64_t i = 0; i < count; ++i) images.push_back(ring_image(180, i).roll({i % 5 - 2, i % 3 - 1}, {-2, -1}));
  const auto samples = at::stack(images);
  write_modes(run, sky_plan(), OnePixel(), samples, 0);
  const auto centred = io::read_npy(run / "modes" / "aligned-mean.npy"),
             sd = io::read_npy(run / "modes" / "aligned-sd.npy");
  const auto back = diagnostics::shift_onto(centred, ring_image(180, 0), side);
  // Its light is South of the ring's middle by 0.4 of the radius, 2.1 pixels, less what crosses the edges.
  EXPECT_NEAR(static_cast<double>(back.rows), 2, 1);
  EXPECT_EQ(back.columns, 0);
  const auto mean = centred.roll({back.rows, back.columns}, {-2, -1});
  EXPECT_GT(samples.std(0).max().item<double>(), 0.1) << "as they are, their places count";
  // The mean of 40 and the SD of 40, over 1024 pixels: four and a half standard errors.
  EXPECT_LT((mean - ring_image(180, 0)).abs().max().item<double>(), 0.01 * 4.5 * std::sqrt(1 + 1.0 / count));
  EXPECT_LT((sd - 0.01).abs().max().item<double>(), 0.01 * 4.5 / std::sqrt(2.0 * (count - 1)));
  auto plan = sky_plan();
  plan.options.align = diagnostics::Align::none;
  write_modes(run, plan, OnePixel(), samples, 0);
  EXPECT_FALSE(std::filesystem::exists(run / "modes" / "aligned-mean.npy"));
}

/// The truth has noise of SD 0.01 of its own, the mean of 40 samples a little; 1024 pixels know the mean square to 4.4
/// %.
TEST(RunModes, ATruthIsComparedWhereverItIs) {
  const auto run = sky_run();
  std::vector<Tensor> images;
  for (int64_t i = 0; i < count; ++i) images.push_back(ring_image(180, i).roll({i % 5 - 2, i % 3 - 1}, {-2, -1}));
  const auto samples = at::stack(images);
  io::write_npy(run / "samples.npy", samples.to(at::kFloat));
  write_modes(run, sky_plan(), OnePixel(), samples, 0);
  const auto metrics = evaluate_run(run, ring_image(180, 1000).roll({9, -7}, {-2, -1}), "truth");
  EXPECT_EQ(metrics["samples"], "aligned, and the truth with them");
  EXPECT_NEAR(metrics["mse"].get<double>(), 1e-4 * (1 + 1.0 / count), 4.5e-4 * 0.044);
  EXPECT_GT(metrics["coverage_3sd"].get<double>(), 0.98);
  const auto page = io::read_file(run / "report.html");
  EXPECT_NE(page.find(">Error beyond 3 SD<"), std::string::npos);
  // Aligned anew, the samples may be elsewhere: without another comparison the truth is not beside them.
  write_modes(run, sky_plan(), OnePixel(), samples, 0);
  report::write_run_report(run);
  EXPECT_EQ(io::read_file(run / "report.html").find(">Error beyond 3 SD<"), std::string::npos);
  io::write_file(run / "modes.json", R"({"modes": [], "per_sample": {"shift": [[1]]}})");
  EXPECT_THROW(evaluate_run(run, samples[0], "truth"), InputError);
}

TEST(RunModes, OneSampleIsNotAligned) {
  const auto run = sky_run();
  write_modes(run, sky_plan(), OnePixel(), two_kinds().narrow(0, 0, 1), 0);
  EXPECT_FALSE(std::filesystem::exists(run / "modes" / "aligned-mean.npy")) << "its SD would be NaN";
}

TEST(ModesPlan, PhasesFixThePositionClosuresDoNot) {
  const auto align = [](const std::string& terms) {
    auto settings = Settings::from_text("{}", "test");
    auto likelihood = Settings::from_text("{kind: interferometry, fov: 128" + terms + "}", "test");
    return modes_setting(settings, likelihood, {1, 32, 32})->options.align;
  };
  EXPECT_EQ(align(""), diagnostics::Align::shift);
  EXPECT_EQ(align(", terms: {closure_phase: 1}"), diagnostics::Align::shift);
  EXPECT_EQ(align(", terms: {closure_phase: 1, visibility: 1}"), diagnostics::Align::none);
}

TEST(RunModes, ASampleWithoutARingHasNoNumbers) {
  const auto run = sky_run();
  auto samples = two_kinds();
  samples[4].zero_();
  const auto found = write_modes(run, sky_plan(), OnePixel(), samples, 0);
  EXPECT_EQ(found.summary["ring"]["with_ring"], count - 1);
  const auto table = report::numbers_of(report::read_csv(run / "ring.csv"));
  EXPECT_EQ(table.at("ring")[4], 0);
  EXPECT_TRUE(std::isnan(table.at("diameter")[4]));
}

TEST(RunModes, TheReportShowsThem) {
  const auto run = sky_run();
  auto summary = summary_of(run);
  summary.update(write_modes(run, sky_plan(), OnePixel(), two_kinds(), 0).summary);
  io::write_file(run / "summary.json", summary.dump());
  report::write_run_report(run);
  const auto page = io::read_file(run / "report.html");
  for (const auto* part : {">Mean, samples aligned<", ">SD, samples aligned<", ">Modes<", ">Mean of mode 1<",
                           ">SD of mode 2<", ">Map of the samples<", ">chi2 of pixel<", ">The ring<", "Diameter (",
                           "The ring of mode 2", "50 &#181;as", "0.650 +- 0.075"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(RunModes, TheReportRefusesBrokenFilesByName) {
  const auto run = sky_run();
  write_modes(run, sky_plan(), OnePixel(), two_kinds(), 0);
  const auto expect_about = [&](const std::string& file) {
    try {
      report::write_run_report(run);
      FAIL() << "no error about " << file;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
  };
  io::write_npy(run / "modes" / "sd-2.npy", at::zeros({1, 3, 3}));
  expect_about("sd-2.npy");
  io::write_file(run / "modes.json", R"({"modes": 3})");
  expect_about("modes.json");
  io::write_file(run / "modes.json", R"({"modes": [3]})");
  expect_about("modes.json");
}

TEST(ModesSetting, IsThereForTheSkyOrWhereAsked) {
  const auto plan_of = [](const std::string& text) {
    auto settings = Settings::from_text(text, "c.yaml");
    auto likelihood = settings.section("likelihood");
    auto plan = modes_setting(settings, likelihood, {1, 64, 64});
    settings.finish();
    return plan;
  };
  const auto sky = plan_of("likelihood: {kind: interferometry, fov: 128, black: -1}\nmodes: {max_shift: 5}");
  ASSERT_TRUE(sky && sky->ring);
  EXPECT_EQ(sky->options.align, diagnostics::Align::shift);
  EXPECT_EQ(sky->options.max_shift, 5);
  EXPECT_EQ(sky->ring->blur, 4);
  EXPECT_EQ(sky->ring->black, -1);
  EXPECT_FALSE(plan_of("likelihood: {kind: none}"));
  const auto asked = plan_of("likelihood: {kind: none}\nmodes: {most: 3}");
  ASSERT_TRUE(asked);
  EXPECT_FALSE(asked->ring);
  EXPECT_EQ(asked->options.align, diagnostics::Align::none);
  EXPECT_TRUE(plan_of("likelihood: {kind: none}\nmodes: {align: none, max_shift: 5}"));
  EXPECT_THROW(plan_of("likelihood: {kind: none}\nmodes: {align: turn}"), InputError);
  EXPECT_THROW(plan_of("likelihood: {kind: none}\nmodes: {perplexity: 1}"), InputError);
}

}  // namespace
}  // namespace penumbra::app
