/// penumbra reference CONFIG.yaml --out x.npy: what a scan shows by itself, as an image of the prior.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/wiring.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "likelihoods/clipped.h"
#include "likelihoods/mri.h"

namespace penumbra::app {
namespace {

struct Options {
  ConfigOptions config;
  std::filesystem::path out;
  bool zero_filled = false;
};

int write_reference(const Options& options) {
  io::require_writable_file(options.out, 1 << 20);
  const auto problem = load_problem(options.config);
  const auto* scan = dynamic_cast<const MriLikelihood*>(&unclipped(*problem.posterior.likelihood));
  if (!scan)
    input_error("{}: likelihood.kind: expected mri, whose data can be shown as an image, found {}",
                options.config.path.string(), problem.likelihood_kind);
  const auto& pictures = scan->pictures();
  const auto image = options.zero_filled ? pictures.measured : pictures.acquired;
  io::write_npy(options.out, image.to(at::kFloat));
  fmt::print("{}: {}\n", options.out.string(), describe(image.sizes()));
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_config_options(command, options->config);
  command.add_flag("--zero-filled", options->zero_filled, "from the points in the mask alone, zeros elsewhere");
  command.add_option("--out", options->out, "the image, NPY, to evaluate a run against")->required();
  return [options] { return write_reference(*options); };
}

}  // namespace

extern const CommandEntry reference{"reference", "the image that a scan shows by itself", declare};

}  // namespace penumbra::app
