/// penumbra generate --prior P --count N --out DIR: unconditional samples by Heun's method or annealed Langevin
/// dynamics.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/generation.h"
#include "app/json.h"
#include "app/prior_option.h"
#include "app/sd_file.h"
#include "app/wiring.h"
#include "core/error.h"
#include "io/file.h"
#include "io/image.h"
#include "io/image_grid.h"
#include "io/npy.h"
#include "io/weights.h"
#include "priors/clamped_sigma.h"
#include "priors/network.h"
#include "priors/pixel_sd.h"

namespace penumbra::app {
namespace {

struct Options {
  PriorOptions prior;
  std::filesystem::path out;
  std::string method = "heun";
  int64_t count = 16;
  std::optional<int64_t> steps, batch;
  std::optional<double> sigma_max, sigma_min;
  std::optional<double> rho, churn, churn_low, churn_high, churn_noise;
  std::optional<uint64_t> seed;
  std::filesystem::path store_sd;  ///< the draws' SD, for a prior's file; may be empty
  MachineOptions machine;
};

/// Throws InputError, before the work, where a map of the draws would be of no use to --prior.
void require_use_of_sd(const Options& options) {
  require_sd_file("--store-sd", options.store_sd);
  if (options.count < 16)
    input_error("--store-sd: expected --count of 16 or more, found {}: the SD of fewer draws is noise", options.count);
  const std::filesystem::path given = options.prior.prior;
  // A configuration may draw in another range than the network's own.
  if (given.extension() == ".yaml" || given.extension() == ".yml")
    input_error("--store-sd: expected --prior to be a file of weights or a shipped prior's name, found {}",
                options.prior.prior);
  const auto path = std::filesystem::exists(given) ? given : shipped_prior(options.prior.prior);
  const auto weights = io::read_weights(path);
  if (!weights.header.is_object())
    input_error("--store-sd: {} has no header of Penumbra's; expected safetensors that penumbra train made",
                path.string());
  if (weights.header.contains("pixel_sd") && weights.pixel_sd_file.empty())
    fmt::print(stderr, "penumbra: {} has an SD in its header, which comes before any file beside it\n", path.string());
}

/// The noise level asked for, or the default as far as the prior knows it.
double level(const std::string& option, const std::optional<double>& given, double otherwise, const Score& prior) {
  const auto [low, high] = prior.sigma_range();
  if (given && !prior.accepts(*given))
    input_error("{}: expected a noise level in [{}, {}], for which the prior is known, found {}", option, low, high,
                *given);
  if (given) return *given;
  const double known = std::clamp(otherwise, low, high);
  if (known != otherwise)
    fmt::print(stderr, "penumbra: {} is {:g}, not {:g}: the prior is known for sigma in [{:g}, {:g}]\n", option, known,
               otherwise, low, high);
  return known;
}

void refuse_options_of_heun(const Options& options) {
  for (const auto& [name, value] :
       {std::pair{"--rho", options.rho}, std::pair{"--churn", options.churn},
        std::pair{"--churn-sigma-min", options.churn_low}, std::pair{"--churn-sigma-max", options.churn_high},
        std::pair{"--churn-noise", options.churn_noise}})
    if (value) input_error("{}: belongs to --method heun; expected no such option with --method langevin", name);
}

Generation resolve(const Options& options, const Score& prior) {
  const bool is_heun = options.method == "heun";
  if (!is_heun) refuse_options_of_heun(options);
  const auto pixels = prior.image_shape()[1] * prior.image_shape()[2];
  Generation how;
  how.method = is_heun ? Generation::Method::heun : Generation::Method::langevin;
  how.count = options.count;
  how.steps = options.steps.value_or(is_heun ? 32 : 1000);
  // What a network of usual width holds at once in a few gigabytes.
  how.batch = options.batch.value_or(std::clamp<int64_t>((int64_t{1} << 18) / pixels, 1, how.count));
  how.sigma_max = level("--sigma-max", options.sigma_max, is_heun ? 80 : 10, prior);
  how.sigma_min = level("--sigma-min", options.sigma_min, is_heun ? 0.002 : 0.01, prior);
  if (!(how.sigma_min < how.sigma_max))
    input_error("--sigma-min: expected less than --sigma-max, {:g}, found {:g}", how.sigma_max, how.sigma_min);
  how.rho = options.rho.value_or(how.rho);
  how.churn.amount = options.churn.value_or(0);
  how.churn.low = options.churn_low.value_or(how.churn.low);
  how.churn.high = options.churn_high.value_or(how.churn.high);
  how.churn.noise = options.churn_noise.value_or(how.churn.noise);
  how.seed = options.seed.value_or(0);
  return how;
}

/// What the images depend on.
nlohmann::json describe_generation(const Options& options, const Generation& how, const Score& prior) {
  nlohmann::json about{{"program", {{"name", "penumbra"}, {"version", PENUMBRA_VERSION}}},
                       {"prior", {{"file", options.prior.prior}, {"kind", prior_kind(options.prior)}}},
                       {"method", options.method},
                       {"count", how.count},
                       {"batch", how.batch},
                       {"steps", how.steps},
                       {"sigma_max", how.sigma_max},
                       {"sigma_min", how.sigma_min},
                       {"seed", how.seed}};
  if (const auto type = network_compute(prior)) about["prior"]["compute"] = *type;
  if (how.method == Generation::Method::langevin) return about;
  about["rho"] = how.rho;
  // JSON has no infinity: null is "no limit".
  about["churn"] = {{"amount", how.churn.amount},
                    {"sigma_min", how.churn.low},
                    {"sigma_max", std::isfinite(how.churn.high) ? nlohmann::json(how.churn.high) : nullptr},
                    {"noise", how.churn.noise}};
  return about;
}

/// Before the work: what is in the folder is written over by the same command alone.
void require_own_files(const Options& options, const nlohmann::json& about) {
  const auto record = options.out / "samples.json";
  if (std::filesystem::exists(record)) {
    const auto there = nlohmann::json::parse(io::read_file(record), nullptr, false);
    if (there.is_object() && std::all_of(about.items().begin(), about.items().end(), [&](const auto& item) {
          return there.value(item.key(), nlohmann::json()) == item.value();
        }))
      return;
  }
  for (const auto* name : {"samples.npy", "samples.png", "samples.json", "sd.npy"})
    if (const auto path = options.out / name; std::filesystem::exists(path))
      input_error("{}: is there already, and not by the same command; expected another folder for --out",
                  path.string());
}

/// As many of the images as a picture of 16 million pixels holds.
Tensor picture(const Tensor& images, const Score& prior) {
  const auto pixels = images.size(2) * images.size(3);
  const auto most = std::clamp<int64_t>((int64_t{1} << 24) / pixels, 1, 400);
  const auto grid = io::image_grid(images.narrow(0, 0, std::min(most, images.size(0))));
  const auto range = prior.pixel_range();
  return range ? io::to_bytes(grid, range->first, range->second)
               : io::to_bytes(grid, grid.min().item<double>(), grid.max().item<double>());
}

void write_spread(const Options& options, const Tensor& images) {
  const auto sd = images.to(at::kDouble).std(0, /*unbiased=*/true);
  io::write_npy(options.out / "sd.npy", sd.to(at::kFloat));
  fmt::print("{}\n", (options.out / "sd.npy").string());
  if (options.store_sd.empty()) return;
  write_sd_file(options.store_sd, coarse_spread(sd, fmt::format("{} draws", images.size(0))));
}

int generate_samples(const Options& options) {
  const Placement placement{at::kFloat, use_machine(options.machine)};
  const auto prior = load_prior(options.prior, placement);
  const auto how = resolve(options, *prior);
  auto about = as_written(describe_generation(options, how, *prior));
  require_own_files(options, about);
  io::require_writable(options.out, static_cast<uint64_t>(options.count * element_count(prior->image_shape()) * 8));
  if (!options.store_sd.empty()) require_use_of_sd(options);

  const auto start = std::chrono::steady_clock::now();
  const auto generated = generate_images(prior, how, placement);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (generated.diverged) {
    fmt::print(stderr, "penumbra: the images diverged with --method {}, {} steps, sigma from {:g} to {:g}\n",
               options.method, how.steps, how.sigma_max, how.sigma_min);
    return diverged;
  }
  about["sigmas"] = generated.sigmas;
  about["device"] = placement.device.str();
  about["seconds"] = seconds;
  if (const auto count = clamped_count(*prior)) about["clamped_sigma_count"] = count;
  // First: it says whose the others are, should a kill come in between.
  io::write_file(options.out / "samples.json", about.dump(2) + "\n");
  io::write_npy(options.out / "samples.npy", generated.images);
  io::write_png(options.out / "samples.png", picture(generated.images, *prior));
  for (const auto* name : {"samples.npy", "samples.png", "samples.json"})
    fmt::print("{}\n", (options.out / name).string());
  if (how.count > 1) write_spread(options, generated.images);
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_prior_options(command, options->prior);
  command.add_option("--count", options->count, "number of images")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--out", options->out, "folder of the images")->required();
  command
      .add_option("--method", options->method,
                  "heun (default): a few dozen steps of the probability-flow equation; langevin: annealed Langevin "
                  "dynamics, the paper's unconditional mode")
      ->check(CLI::IsMember({"heun", "langevin"}));
  command.add_option("--steps", options->steps, "steps in all (default: heun 32, langevin 1000)")
      ->check(CLI::Range(1, 100000000));
  command
      .add_option("--sigma-max,--sigma-0", options->sigma_max,
                  "first noise level (default: heun 80, langevin 10, or the largest that the prior knows)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--sigma-min", options->sigma_min,
                  "last noise level (default: heun 0.002, langevin 0.01, or the smallest that the prior knows)")
      ->check(CLI::PositiveNumber);
  command.add_option("--rho", options->rho, "heun: noise levels are even in sigma^(1/rho) (default: 7)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--churn", options->churn,
                  "heun: noise put in again on the way, S_churn of Karras et al. 2022 (default: 0, deterministic)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--churn-sigma-min", options->churn_low, "heun: no churn below this level (default: 0)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--churn-sigma-max", options->churn_high, "heun: no churn above this level (default: no limit)")
      ->check(CLI::PositiveNumber);
  command.add_option("--churn-noise", options->churn_noise, "heun: standard deviation of that noise (default: 1)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--batch", options->batch,
                  "images drawn together; less needs less memory and gives the same images (default: 2^18 pixels)")
      ->check(CLI::Range(1, 1000000));
  command.add_option("--store-sd", options->store_sd,
                     "also write the SD of the images to this file; as x.sd.json beside the prior's x.safetensors it "
                     "lets runs show what the data decided");
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options] { return generate_samples(*options); };
}

}  // namespace

extern const CommandEntry generate{"generate", "draw images from a prior", declare};

}  // namespace penumbra::app
