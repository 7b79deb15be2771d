#include "report/training_report.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/random.h"
#include "io/file.h"
#include "io/image.h"
#include "report/training_course.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::report {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;

/// Noise about 1 that is the same each time.
double jitter(int step, double sd) {
  return std::exp(sd * normal({8, 0, step}, Stream::probe, at::empty({1}, at::kDouble)).item<double>());
}

std::string history() {
  std::string csv = "step,images,seconds,loss,learning_rate,gradient_norm,images_per_second\n";
  for (int step = 50; step <= 20000; step += 50) {
    const auto t = step / 20000.0;
    csv += fmt::format("{},{},{:.1f},{:.5g},{:.4g},{:.4g},{:.1f}\n", step, 64 * step, 0.11 * step,
                       (0.04 + 0.9 / (1 + 40 * t)) * jitter(step, 0.25), 2e-4 * std::min(1.0, step / 1000.0),
                       (0.1 + 1.0 / (1 + 20 * t)) * jitter(-step, 0.4), 580 * jitter(3 * step, 0.02));
  }
  return csv;
}

std::string validation() {
  std::string csv = "step,weights,sigma_low,sigma_high,loss,psnr\n";
  const double edges[] = {0.01, 0.1, 1, 10, 100};
  for (int step = 0; step <= 20000; step += 1000)
    for (const auto* weights : {"raw", "ema"})
      for (int band = 0; band < 4; ++band) {
        const auto t = step / 20000.0 * (weights[0] == 'e' ? 1 : 0.8);
        const auto loss = (1 + band) * 0.1 * (0.3 + 1 / (1 + 30 * t)) * jitter(step + band, 0.01);
        csv += fmt::format("{},{},{},{},{:.5g},{:.2f}\n", step, weights, edges[band], edges[band + 1], loss,
                           40 - 8 * band - 10 * std::log10(loss / (1 + band) / 0.03));
      }
  return csv;
}

/// A grid of 4 x 4 colour pictures that grow sharper.
void write_samples(const fs::path& folder, int step) {
  fs::create_directories(folder);
  const auto noise = uniform({5, 0, 0}, Stream::probe, at::empty({3, 128, 128}, at::kFloat));
  const auto x = at::arange(128, at::kFloat) / 10;
  const auto picture = 0.5 + 0.4 * at::sin(x.unsqueeze(0) + at::cos(x).unsqueeze(1)).expand({3, -1, -1});
  const auto share = std::exp(-step / 4000.0);
  const auto bytes = (255 * (share * noise + (1 - share) * picture)).clamp(0, 255).to(at::kByte);
  io::write_png(folder / fmt::format("step-{:08}.png", step), bytes);
}

constexpr auto summary = R"({"program": {"name": "penumbra", "version": "0.2.0", "libtorch": "1.13.1"},
  "device": "NVIDIA H200", "parameters": 12345678, "architecture": {"kind": "unet", "width": 64, "levels": [1, 2, 4]},
  "data": {"folder": "/data/faces", "train": 27000, "validation": 1421}, "steps": 20000, "seconds": 2200.5,
  "outcome": "finished", "verdict": "The network learnt every noise level; its samples can be trusted."})";

fs::path synthetic_training() {
  const auto run = test::scratch() / "faces";
  for (const int step : {0, 2000, 4000, 6000, 8000, 10000, 12000, 20000}) write_samples(run / "samples", step);
  io::write_file(run / "history.csv", history());
  io::write_file(run / "validation.csv", validation());
  io::write_file(run / "summary.json", summary);
  io::write_file(run / "config.yaml", "data:\n  folder: /data/faces\nseed: 1\n");
  return run;
}

std::string training_report_of(const fs::path& run) {
  write_training_report(run);
  return io::read_file(run / "report.html");
}

std::string error_of(const fs::path& run) {
  return message_of([&] { write_training_report(run); });
}

TEST(TrainingReport, HasEveryPartInItsOrder) {
  const auto run = synthetic_training();
  const auto page = training_report_of(run);
  size_t at = 0;
  for (const auto* part : {"Training of faces",
                           "unet, 12,345,678 parameters, 27,000 images, NVIDIA H200",
                           "its samples can be trusted",
                           ">finished<",
                           ">20,000 steps<",
                           ">Training loss<",
                           ">Gradient<",
                           ">Learning rate<",
                           ">Speed<",
                           ">Validation loss<",
                           "sigma 0.01 to 0.1",
                           ">Denoising<",
                           ">last, EMA<",
                           ">10 to 100<",
                           ">Step 0<",
                           ">Step 20,000<",
                           "6 of 8 grids",
                           "folder: /data/faces, train: 27,000",
                           "36 min 41 s",
                           "seed: 1"}) {
    const auto found = page.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
  // For a look at it: PENUMBRA_KEEP_REPORT=FOLDER keeps a copy.
  if (const auto* keep = std::getenv("PENUMBRA_KEEP_REPORT"))
    fs::copy_file(run / "report.html", fs::path(keep) / "training_report.html", fs::copy_options::overwrite_existing);
}

TEST(TrainingReport, NeedsOnlyTheHistory) {
  const auto run = test::scratch();
  io::write_file(run / "history.csv", "step,loss\n1,0.5\n2,0.25\n");
  const auto page = training_report_of(run);
  EXPECT_TRUE(contains(page, "After 2 steps the training loss is 0.25"));
  EXPECT_TRUE(contains(page, ">under way<"));
  EXPECT_FALSE(contains(page, "What it draws"));
  EXPECT_FALSE(contains(page, ">Validation loss<"));
  io::write_file(run / "history.csv", "step,loss\n");
  EXPECT_TRUE(contains(training_report_of(run), "No step of this run has been recorded"));
}

TEST(TrainingReport, NamesWhatIsBroken) {
  const auto with = [](const std::string& file, const std::string& content) {
    const auto run = synthetic_training();
    io::write_file(run / file, content);
    return error_of(run);
  };
  EXPECT_TRUE(contains(with("history.csv", "step,loss\n1,x\n"), "history.csv:2: expected a number, found 'x'"));
  for (const auto* rows : {"2,1\n1,1\n", "1,1\n,1\n"})
    EXPECT_TRUE(contains(with("history.csv", std::string("step,loss\n") + rows),
                         "history.csv:3: step: expected a number not below the row before"));
  EXPECT_TRUE(contains(with("history.csv", "step,images\n1,2\n"), "history.csv: expected a column loss"));
  EXPECT_TRUE(contains(with("validation.csv", "step,weights,sigma_low,sigma_high,loss\n1,both,1,2,3\n"),
                       "validation.csv:2: weights: expected raw or ema, found 'both'"));
  EXPECT_TRUE(contains(with("summary.json", "[1]"), "summary.json: expected a JSON object"));
  EXPECT_TRUE(contains(with("samples/step-00000000.png", "no"), "step-00000000.png: expected an image"));
  EXPECT_TRUE(contains(error_of(test::scratch()), "history.csv: cannot be read"));
  EXPECT_TRUE(contains(error_of("/nowhere"), "no such folder"));
}

TEST(TrainingReport, EscapesWhatFilesSay) {
  const std::string hostile = "</pre><script>alert(1)</script>";
  const auto run = synthetic_training();
  io::write_file(run / "config.yaml", "note: " + hostile);
  io::write_file(run / "summary.json",
                 nlohmann::json{{"verdict", hostile}, {hostile, {{hostile, hostile}}}, {"outcome", hostile}}.dump());
  const auto page = training_report_of(run);
  EXPECT_FALSE(contains(page, "<script>alert"));
  EXPECT_TRUE(contains(page, "&lt;script&gt;alert(1)"));
}

TEST(TrainingReport, TakesOddSummaries) {
  const auto run = synthetic_training();
  for (const auto* odd : {"{}", R"({"data": 3, "parameters": "many", "architecture": null, "program": []})"}) {
    io::write_file(run / "summary.json", odd);
    EXPECT_TRUE(contains(training_report_of(run), ">Training loss<"));
  }
}

TEST(TrainingReport, WarnsOfARisingValidationLoss) {
  const auto run = test::scratch();
  io::write_file(run / "history.csv", "step,loss\n1,0.5\n");
  const std::string head = "step,weights,sigma_low,sigma_high,loss,psnr\n";
  const auto badge = [&](const std::string& rows) {
    io::write_file(run / "validation.csv", head + rows);
    return validation_findings(read_training(run)).at(0).first.text;
  };
  EXPECT_EQ(badge("0,ema,1,2,1,\n5,ema,1,2,0.5,\n9,ema,1,2,0.6,\n"), "past its best");
  EXPECT_EQ(badge("0,ema,1,2,1,\n5,ema,1,2,0.5,\n9,ema,1,2,0.505,\n"), "still at its best");
  EXPECT_EQ(badge("0,ema,1,2,1,\n5,ema,1,2,0.5,\n9,ema,1,2,nan,\n"), "not finite");
  EXPECT_EQ(badge("0,raw,1,2,1,\n0,ema,1,2,1,\n5,raw,1,2,0.5,\n5,ema,1,2,0.9,\n"), "averaging lags");
}

TEST(TrainingReport, SmoothsByMediansAndQuantiles) {
  const auto curve = smooth({1, 2, 3, 4, 5, 6}, {1, 2, 9, 4, NAN, 6}, 2);
  EXPECT_EQ(curve.step, (std::vector<double>{2, 5}));
  EXPECT_EQ(curve.middle, (std::vector<double>{2, 5}));
  EXPECT_NEAR(curve.low[0], 1.2, 1e-12);
  EXPECT_NEAR(curve.high[0], 7.6, 1e-12);
}

TEST(TrainingReport, RefersToNothingOutsideItself) {
  const auto page = training_report_of(synthetic_training());
  EXPECT_FALSE(contains(page, "http://"));
  EXPECT_FALSE(contains(page, "https://"));
  EXPECT_TRUE(contains(page, "default-src 'none'"));
}

}  // namespace
}  // namespace penumbra::report
