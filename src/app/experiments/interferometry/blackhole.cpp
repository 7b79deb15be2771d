/// penumbra experiment blackhole: black holes from the closures of a simulated night, by every method.
#include <fmt/format.h>

#include <cstdio>

#include "app/experiments/interferometry/comparison.h"
#include "app/experiments/interferometry/network.h"
#include "app/experiments/linear/method_file.h"
#include "app/progress.h"
#include "core/error.h"
#include "io/checksum.h"
#include "run/interrupt.h"

namespace penumbra::app {
namespace {

using namespace interferometry;

/// The dirty image is none.
const std::string no_sampler;

/// The weights and widths were chosen on other images of the generator (docs/experiments.md).
std::vector<Method> methods(const ExperimentOptions& options) {
  if (!options.methods.empty()) return linear::read_methods(options.methods);
  const auto steps = options.steps > 0 ? options.steps : options.quick ? 60 : 400;
  const auto apmc = [&](const char* name, const char* kind) -> Method {
    return {name, fmt::format("{{kind: {}, steps: {}}}", kind, steps)};
  };
  return {{"dirty", no_sampler},
          {"MEM", "{kind: rml, entropy: 1, prior_width: 0.15}"},
          {"TV", "{kind: rml, tv: 0.1, prior_width: 0.2}"},
          apmc("APMC-RED", "apmc-red"),
          apmc("APMC-PnP", "apmc-pnp")};
}

/// Where a cell is kept, and what it depends on besides method, image and prior.
struct Keeping {
  std::filesystem::path folder;
  std::string key, setup;
};

std::string digest(const Tensor& image) {
  return io::format_checksum(io::checksum({static_cast<const char*>(image.data_ptr()), image.nbytes()}));
}

/// One cell of the table: what OUT/kept has of it, or made anew.
Reconstruction reconstruct(const Method& method, const SkyCase& sky, const Network& network,
                           const SamplingOptions& sampling, const Keeping& keeping, const OnStep& on_step) {
  if (method.sampler == no_sampler) {
    auto result = judge(sky, dirty_image(sky).unsqueeze(0));
    result.random = false;
    result.chains = 1;
    return result;
  }
  const auto prepared = prepare(method, sky, network.prior, sampling.seed);
  const auto made_from =
      fmt::format("{} | {} | {} | image {} | {} chains | seed {} | prior {}", PENUMBRA_VERSION, prepared.resolved,
                  keeping.setup, digest(sky.truth), sampling.chains, sampling.seed, network.digest);
  if (auto done = kept(keeping.folder, keeping.key, made_from)) return *done;
  const auto sampled = sample(prepared, network.prior, sampling, on_step);
  auto result = judge(sky, sampled.samples);
  result.sampler = prepared.resolved;
  result.random = prepared.entry->random;
  result.chains = sampled.chains;
  result.steps = prepared.steps;
  result.seconds = sampled.seconds;
  keep(result, keeping.folder, keeping.key, made_from);
  return result;
}

std::string describe(const SkySetup& setup) {
  return fmt::format(
      "The Event Horizon Telescope of 2017 on M87: {:g} Jy in {:g} uas, thermal noise, random phases and gains of {:g} "
      "% of each station, {:g} % of |V| that do not close",
      setup.flux, setup.fov, 100 * setup.gain_sd, 100 * setup.preparation.systematic_noise);
}

int run_blackhole(const ExperimentOptions& options) {
  claim_folder("blackhole", options, 16 << 20);
  listen_for_interrupts();
  const Placement placement{at::kFloat, options.device};
  const auto network = read_network(options, placement);
  const auto side = network.prior->image_shape()[1];
  const auto count = options.count > 0 ? options.count : options.quick ? 2 : 20;
  const SamplingOptions sampling{.chains = options.chains > 0 ? options.chains
                                           : options.quick    ? 4
                                                              : 20,
                                 .seed = options.seed,
                                 .placement = placement};
  const auto setup = m87_setup();
  Comparison comparison;
  comparison.truths =
      options.images.empty() ? generated_truths(count, side, options.seed) : folder_truths(options.images, count, side);
  comparison.prior = network.name;
  comparison.setup = describe(setup);
  const auto list = methods(options);
  for (const auto& method : list) comparison.methods.push_back({method.name, {}});
  Progress progress;
  for (int64_t i = 0; i < comparison.truths.images.size(0); ++i) {
    const auto truth = comparison.truths.images[i].contiguous();
    // Every image has a noise of its own.
    const auto sky = observe_sky(truth, setup, options.seed + 1000 * static_cast<uint64_t>(i), placement);
    const auto& name = comparison.truths.names[static_cast<size_t>(i)];
    for (size_t m = 0; m < list.size(); ++m) {
      const Keeping keeping{options.out / "kept", fmt::format("{}.{}", list[m].name, i + 1),
                            fmt::format("{}, noise {}", comparison.setup, i)};
      auto done = reconstruct(list[m], sky, network, sampling, keeping, [&](int64_t k, int64_t steps) {
        if (interrupted()) input_error("{}: interrupted; the same command goes on", options.out.string());
        progress.show(k, steps, fmt::format("  {} {}", name, list[m].name));
      });
      const auto& q = done.quality;
      fmt::print("{:<12} {:<10} {:6.2f} dB  corr. {:.3f}  chi2 {:6.2f} {:6.2f}  in 3 SD {:.3f}  {:.1f} s\n", name,
                 list[m].name, q.psnr, q.ncc, q.chi2_phase, q.chi2_amplitude, q.coverage, done.seconds);
      std::fflush(stdout);
      comparison.methods[m].images.push_back(std::move(done));
    }
  }
  // A quick run is too short for claims, and other methods are not what they are about.
  if (!options.quick && options.methods.empty()) comparison.checks = claims(comparison);
  return write(comparison, options);
}

}  // namespace

extern const ExperimentEntry blackhole_entry{"blackhole", "black holes from closures, by classical methods and APMC",
                                             run_blackhole, /*takes_prior=*/true};

}  // namespace penumbra::app
