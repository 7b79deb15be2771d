/// penumbra generate --prior P --count N --out DIR: unconditional samples by annealed Langevin dynamics.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/command.h"
#include "app/progress.h"
#include "app/wiring.h"
#include "core/named.h"
#include "io/file.h"
#include "io/image.h"
#include "io/npy.h"
#include "run/chain_run.h"

namespace penumbra::app {
namespace {

struct Options {
  std::filesystem::path prior, out;
  int64_t count = 16, steps = 1000;
  double sigma_0 = 10, sigma_min = 0.01;
  std::optional<uint64_t> seed;
  MachineOptions machine;
};

/// Images side by side, [H, W] or [3, H, W], with a pixel between them.
Tensor grid(const Tensor& samples) {
  const auto count = samples.size(0);
  const auto across = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const auto down = (count + across - 1) / across;
  const auto height = samples.size(2) + 1, width = samples.size(3) + 1;
  const bool colour = samples.size(1) == 3;
  const auto shown = colour ? samples : samples.narrow(1, 0, 1);
  auto page = at::full({shown.size(1), down * height - 1, across * width - 1}, shown.min().item(), shown.options());
  for (int64_t i = 0; i < count; ++i)
    page.narrow(1, i / across * height, height - 1).narrow(2, i % across * width, width - 1).copy_(shown[i]);
  return colour ? page : page[0];
}

Tensor as_bytes(const Tensor& image) {
  const double low = image.min().item<double>(), high = image.max().item<double>();
  return ((image - low) * (255 / std::max(high - low, 1e-12))).round().clamp(0, 255).to(at::kByte).contiguous();
}

int generate_samples(const Options& options) {
  const Placement placement{at::kFloat, use_machine(options.machine)};
  const auto prior = load_prior(options.prior, placement);
  auto none = Settings::from_text("kind: none", "generate");
  const Posterior posterior{make_likelihood(none, prior->image_shape(), placement), prior};
  const uint64_t seed = options.seed.value_or(0);
  auto settings = Settings::from_text(fmt::format("{{sigma_0: {}, sigma_min: {}}}", options.sigma_0, options.sigma_min),
                                      "generate");
  const auto* entry = find_named(sampler_entries(), "annealed-langevin");
  const auto sampler = entry->make(settings, {posterior, seed, options.steps});
  RunPlan plan;
  plan.steps = options.steps;
  plan.chains = options.count;
  plan.record_from = options.steps - 1;
  plan.trace_every = std::max<int64_t>(1, options.steps / 50);
  Start start;
  start.kind = Start::Kind::normal;
  start.sd = options.sigma_0;
  io::require_writable(options.out, static_cast<uint64_t>(options.count * element_count(prior->image_shape()) * 8));

  ChainRun run(plan, posterior, *sampler, initial_state(start, *prior, seed, 0, options.count, placement));
  Progress progress;
  run.after_step = [&](const ChainRun& now) { progress(now); };
  if (run.run() == Outcome::diverged) {
    fmt::print(stderr, "penumbra: the chains diverged at iteration {}\n", run.state().k);
    return diverged;
  }
  // One last denoising removes the noise of the smallest level.
  const auto samples = prior->denoise(run.state().x, options.sigma_min).cpu();
  io::write_npy(options.out / "samples.npy", samples);
  io::write_png(options.out / "samples.png", as_bytes(grid(samples)));
  fmt::print("{}\n{}\n", (options.out / "samples.npy").string(), (options.out / "samples.png").string());
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("--prior", options->prior, "prior: a YAML file with a prior section, or that section alone")
      ->required();
  command.add_option("--count", options->count, "number of images")->check(CLI::Range(1, 1000000));
  command.add_option("--out", options->out, "folder of the images")->required();
  command.add_option("--steps", options->steps, "Langevin steps in all")->check(CLI::Range(1, 100000000));
  command.add_option("--sigma-0", options->sigma_0, "first noise level")->check(CLI::PositiveNumber);
  command.add_option("--sigma-min", options->sigma_min, "last noise level")->check(CLI::PositiveNumber);
  add_seed_option(command, options->seed);
  add_machine_options(command, options->machine);
  return [options] { return generate_samples(*options); };
}

}  // namespace

extern const CommandEntry generate{"generate", "draw images from a prior", declare};

}  // namespace penumbra::app
