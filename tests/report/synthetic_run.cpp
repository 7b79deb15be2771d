#include "report/synthetic_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "core/random.h"
#include "io/file.h"
#include "io/npy.h"
#include "support/paths.h"

namespace penumbra::test {
namespace {

/// A head: an ellipse with a rim, two dark ventricles and a bright spot.
Tensor phantom(const Shape& shape) {
  const auto rows = at::linspace(-1, 1, shape[1], at::kDouble).unsqueeze(1);
  const auto columns = at::linspace(-1, 1, shape[2], at::kDouble).unsqueeze(0);
  const auto inside = [&](double r, double c, double height, double width) {
    const auto radius = (((rows - r) / height).square() + ((columns - c) / width).square()).sqrt();
    return at::sigmoid((1 - radius) * 12);
  };
  auto image = 0.9 * inside(0, 0, 0.92, 0.75) - 0.45 * inside(0, 0, 0.82, 0.65) - 0.3 * inside(-0.05, -0.2, 0.4, 0.12) -
               0.3 * inside(-0.05, 0.2, 0.4, 0.12) + 0.35 * inside(0.45, 0.25, 0.12, 0.14);
  return (2 * image - 1).expand(shape).contiguous();
}

/// Noise with a correlation length of a few pixels, as posterior samples have.
Tensor smooth_noise(const Tensor& like, int64_t iteration) {
  auto z = normal({.seed = 5, .k = iteration}, Stream::langevin, like);
  for (const int64_t shift : {1, 2, 1}) z = (z + z.roll(shift, -1) + z.roll(shift, -2) + z.roll(-shift, -1)) / 2;
  return z;
}

std::string trace_csv() {
  std::string text =
      "iteration,sigma,alpha,step_size,chi2,gradient_norm,score_norm,max_abs,spread,seconds,acceptance\n";
  for (int k = 10; k <= 3000; k += 10) {
    const auto decay = std::exp(-k / 400.0);
    text += fmt::format("{},{},{},5e-06,{},{},{},{},{},{},\n", k, 0.02 + 300 * std::exp(-k / 120.0), 1 + 3000 * decay,
                        1 + 400 * std::exp(-k / 90.0) + 0.02 * std::sin(k), 20 + 900 * decay, 18 + 700 * decay,
                        1.1 + 3 * decay, k == 10 ? "" : fmt::format("{}", 0.08 + 0.5 * decay), 0.021 * k);
  }
  return text;
}

nlohmann::json metrics() {
  return {{"mse", 4.1e-3},
          {"mae", 0.047},
          {"psnr_paper", {{"value", 27.61}, {"convention", "values in [-1, 1], peak 1"}}},
          {"psnr_range", {{"value", 33.63}, {"convention", "peak 2"}}},
          {"nll", -1.47},
          {"coverage_3sd", 0.987},
          {"mean_sd", 0.052},
          {"rank_correlation", 0.41},
          {"ssim", nullptr},
          {"calibration",
           {{"nominal", {0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99}},
            {"empirical", {0.08, 0.26, 0.46, 0.66, 0.87, 0.93, 0.98}}}}};
}

}  // namespace

nlohmann::json synthetic_summary() {
  return nlohmann::json::parse(R"({
    "program": {"name": "penumbra", "version": "0.1.0", "libtorch": "1.13.1"}, "device": "cpu", "threads": 2, "seed": 7,
    "started": "2024-05-01T10:00:00Z", "finished": "2024-05-01T10:01:03Z", "outcome": "finished",
    "timings": {"total_s": 63.2, "per_iteration_ms": 21.1, "iterations": 3000},
    "problem": {"prior": "gaussian_mixture", "likelihood": "gaussian", "image_shape": [1, 48, 48], "data_count": 691,
                "noise_sd": 0.004},
    "sampler": {"kind": "apmc-pnp", "steps": 3000, "step_size": 5e-06, "precision": "float32"},
    "chains": {"count": 16, "records": 800, "record_from": 2000, "record_every": 20},
    "diagnostics": {
      "rhat": {"kind": "split", "median": 1.004, "p95": 1.02, "max": 1.07, "threshold": 1.05},
      "ess": {"median": 412, "min": 57.3}, "mcse": {"mean_relative": 0.049, "sd_relative": 0.035},
      "misfit": [{"term": "gaussian", "chi2": 1.02, "expected": 1, "tolerance": 0.11, "data_count": 691}],
      "step": {"step_size": 5e-06, "stability_limit": 1.6e-05, "theorem_limit": 4.1e-07, "lipschitz_likelihood": 62500,
               "lipschitz_prior": null}},
    "verdicts": [{"level": "good", "about": "data fit", "text": "The samples explain the data to within the noise."},
                 {"level": "good", "about": "mixing", "text": "The chains agree: 95 % of the pixels have R-hat below 1.02."},
                 {"level": "warning", "about": "worst pixels", "text": "3 pixels have R-hat above 1.05; run longer before reading them one by one."},
                 {"level": "note", "about": "step size", "text": "The step is stable but larger than the theorem's limit, so its bound does not apply."}],
    "verdict": "The chains agree with each other and with the data; the uncertainty can be read at face value except at 3 pixels."
  })");
}

std::filesystem::path write_synthetic_run(const SyntheticRun& options) {
  const auto run = scratch() / "synthetic";
  std::filesystem::create_directories(run / "inputs");
  const auto truth = phantom(options.shape);
  const auto sd = 0.03 + 0.08 * (1 - truth.square()).clamp_min(0);
  const auto batch = truth.unsqueeze(0).expand({options.chains, -1, -1, -1}).contiguous();
  const auto samples = batch + sd * (smooth_noise(batch, 1) + 0.6 * smooth_noise(batch.slice(0, 0, 1), 2));
  const auto mean = samples.mean(0);
  const auto offsets = at::tensor({-2.576, -1.96, 0.0, 1.96, 2.576}, at::kDouble).reshape({5, 1, 1, 1});
  io::write_npy(run / "samples.npy", samples.to(at::kFloat));
  io::write_npy(run / "mean.npy", mean.to(at::kFloat));
  io::write_npy(run / "sd.npy", sd.to(at::kFloat));
  io::write_npy(run / "quantiles.npy", (mean + offsets * sd).to(at::kFloat));
  io::write_file(run / "config.yaml", options.config);
  io::write_file(run / "trace.csv", trace_csv());
  io::write_file(run / "summary.json", synthetic_summary().dump(2));
  if (!options.evaluated) return run;
  io::write_npy(run / "truth.npy", truth);
  io::write_file(run / "metrics.json", metrics().dump(2));
  const auto blurred = (truth + truth.roll(3, -1) + truth.roll(-3, -1) + truth.roll(3, -2) + truth.roll(-3, -2)) / 5;
  io::write_npy(run / "inputs" / "observation.npy", blurred);
  return run;
}

}  // namespace penumbra::test
