/// penumbra assess --prior P --images FOLDER: how well a prior denoises images that it has not seen; with --loops, how
/// near its score is to a gradient.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/options.h"
#include "app/prior_loops.h"
#include "app/prior_option.h"
#include "app/progress.h"
#include "core/error.h"
#include "training/images.h"

namespace penumbra::app {
namespace {

struct Options {
  PriorOptions prior;
  std::filesystem::path images;
  std::vector<double> sigmas{0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1};
  int64_t batch = 16;
  LoopPlan loops;
  std::optional<uint64_t> seed;
  bool json = false;
  MachineOptions machine;
};

/// Where runs end, and two levels at which they pass.
const std::vector<double> loop_sigmas{0.02, 0.1, 0.5};

Tensor read_folder(const Options& options, const Score& prior, double low, double high) {
  training::ImageSetOptions folder;
  folder.folder = options.images;
  folder.channels = prior.image_shape()[0];
  folder.height = prior.image_shape()[1];
  folder.width = prior.image_shape()[2];
  folder.low = low;
  folder.high = high;
  folder.least = 1;
  const auto images = training::read_images(folder);
  return images.batch(at::arange(images.train.size(0)));
}

/// Mean over the images of the PSNR, dB, with the range of the pixels as peak.
double denoising_psnr(const Score& prior, const Tensor& images, double sigma, double range, const Options& options,
                      const at::Device& device, Progress& progress) {
  std::vector<Tensor> errors;
  for (int64_t first = 0; first < images.size(0); first += options.batch) {
    const auto x = images.narrow(0, first, std::min(options.batch, images.size(0) - first));
    const auto noisy = x + sigma * normal({options.seed.value_or(0), first, 0}, Stream::measurement, x);
    const auto denoised = prior.denoise(noisy.to(device), sigma).cpu();
    errors.push_back((denoised - x).square().mean({1, 2, 3}));
    progress.show(first + x.size(0), images.size(0), fmt::format("  sigma {:g}", sigma));
  }
  return (10 * (range * range / at::cat(errors)).log10()).mean().item<double>();
}

int assess_loops(Options options) {
  c10::NoGradGuard no_gradients;
  const auto device = use_machine(options.machine);
  // In half precision the loops would be the rounding's.
  options.prior.usual_compute = "float32";
  const auto prior = load_prior(options.prior, {at::kFloat, device});
  const auto [low, high] = prior->pixel_range().value_or(std::pair{-1.0, 1.0});
  const auto images = read_folder(options, *prior, low, high);
  if (images.size(0) < 3)
    input_error("--loops: {}: expected at least 3 images, the corners of a triangle, found {}", options.images.string(),
                images.size(0));
  auto& plan = options.loops;
  plan.seed = options.seed.value_or(0), plan.rule.batch = options.batch, plan.sigmas = options.sigmas;
  Progress progress;
  const auto table = loop_table(*prior, images, plan, device, progress);
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"images", images.size(0)},
                                      {"pixel_range", {low, high}},
                                      {"loops", plan.loops},
                                      {"spread", plan.spread},
                                      {"intervals", plan.rule.intervals},
                                      {"table", table}}
                           .dump(2));
    return success;
  }
  fmt::print(
      "triangles between three of {} images: {}; spread {:g}, noise of sigma added, pixels in [{:g}, {:g}]\n"
      "integrals of the score, RMS in nats: around a triangle (0 for a gradient; quadrature: difference of two rules) "
      "and along a side\n",
      images.size(0), plan.loops, plan.spread, low, high);
  print_loops(table);
  return success;
}

int assess_prior(const Options& options) {
  c10::NoGradGuard no_gradients;
  const auto device = use_machine(options.machine);
  const auto prior = load_prior(options.prior, {at::kFloat, device});
  const auto [low, high] = prior->pixel_range().value_or(std::pair{-1.0, 1.0});
  const auto images = read_folder(options, *prior, low, high);
  Progress progress;
  nlohmann::json table = nlohmann::json::array();
  for (const double sigma : options.sigmas) {
    const double psnr = denoising_psnr(*prior, images, sigma, high - low, options, device, progress);
    table.push_back({{"sigma", sigma},
                     {"psnr", psnr},
                     {"psnr_paper", psnr - 20 * std::log10(2.0)},
                     {"psnr_noisy", 20 * std::log10((high - low) / sigma)}});
  }
  if (options.json) {
    fmt::print("{}\n",
               nlohmann::json{{"images", images.size(0)}, {"pixel_range", {low, high}}, {"table", table}}.dump(2));
    return success;
  }
  fmt::print("{} images, pixels in [{:g}, {:g}]; mean PSNR in dB\n", images.size(0), low, high);
  fmt::print("  {:>8}  {:>8}  {:>9}  {:>16}\n", "sigma", "noisy", "denoised", "peak half range");
  for (const auto& row : table)
    fmt::print("  {:>8g}  {:>8.2f}  {:>9.2f}  {:>16.2f}\n", row["sigma"].get<double>(), row["psnr_noisy"].get<double>(),
               row["psnr"].get<double>(), row["psnr_paper"].get<double>());
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_prior_options(command, options->prior);
  command.add_option("--images", options->images, "folder of images: PNG, JPEG, NPY, FITS or ehtim's text")->required();
  const auto* sigma = command.add_option("--sigma", options->sigmas, "noise levels in the prior's pixel range")
                          ->delimiter(',')
                          ->default_str(fmt::format("{}; with --loops {}", fmt::join(options->sigmas, ","),
                                                    fmt::join(loop_sigmas, ",")));
  const auto* loops = command
                          .add_option("--loops", options->loops.loops,
                                      "instead: the score's integral around so many triangles between images")
                          ->check(CLI::Range(1, 100000));
  command.add_option("--spread", options->loops.spread, "distances between a triangle's images times this")
      ->check(CLI::Range(0.0, 1.0))
      ->needs("--loops")
      ->capture_default_str();
  command.add_option("--intervals", options->loops.rule.intervals, "of the rule along a side, a multiple of 4")
      ->check(CLI::Range(4, 4096))
      ->needs("--loops")
      ->capture_default_str();
  command.add_option("--batch", options->batch, "images denoised together, or points of loops")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print JSON");
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options, sigma, loops] {
    if (loops->count() == 0) return assess_prior(*options);
    if (sigma->count() == 0) options->sigmas = loop_sigmas;
    return assess_loops(*options);
  };
}

}  // namespace

extern const CommandEntry assess{"assess", "how well a prior denoises images it has not seen", declare};

}  // namespace penumbra::app
