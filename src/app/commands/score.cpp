/// penumbra score and penumbra denoise: the prior at given images and noise levels.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/options.h"
#include "app/prior_option.h"
#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

enum class What { score, denoise };

struct Options {
  PriorOptions prior;
  std::filesystem::path input, output;
  std::vector<double> sigmas;
  std::string precision = "float32";
  MachineOptions machine;
};

/// [H, W], [C, H, W] or [N, C, H, W] as [N, C, H, W].
Tensor as_batch(Tensor x, const Shape& shape, const std::filesystem::path& path) {
  const auto given = x.sizes().vec();
  if (x.dim() == 2 && shape[0] == 1) x = x.unsqueeze(0);
  if (x.dim() == 3) x = x.unsqueeze(0);
  if (x.dim() != 4 || x.sizes().slice(1) != at::IntArrayRef(shape) || x.is_complex())
    input_error("{}: expected real images of {}, as the prior's, found {}", path.string(), describe(shape),
                describe(given));
  if (!x.isfinite().all().item<bool>())
    input_error("{}: expected finite numbers, found NaN or infinity", path.string());
  return x;
}

int apply(const Options& options, What what) {
  c10::NoGradGuard no_gradients;
  const Placement placement{options.precision == "float64" ? at::kDouble : at::kFloat, use_machine(options.machine)};
  const auto prior = load_prior(options.prior, placement);
  const auto given = io::read_npy(options.input);
  const auto x = place(as_batch(given, prior->image_shape(), options.input), placement);
  io::require_writable_file(options.output, static_cast<uint64_t>(x.numel()) * 8);
  const auto count = x.size(0);
  auto sigmas = options.sigmas;
  if (sigmas.size() == 1) sigmas.resize(static_cast<size_t>(count), sigmas[0]);
  if (static_cast<int64_t>(sigmas.size()) != count)
    input_error("--sigma: expected one for all or one for each of {} images, found {}", count, sigmas.size());
  for (const double sigma : sigmas)
    if (!(sigma >= 0)) input_error("--sigma: expected numbers >= 0, found {}", sigma);
  std::vector<Tensor> results;
  for (int64_t first = 0; first < count;) {
    // Neighbours of one sigma go through the prior together.
    const double sigma = sigmas[static_cast<size_t>(first)];
    int64_t last = first + 1;
    while (last < count && sigmas[static_cast<size_t>(last)] == sigma) ++last;
    const auto part = x.narrow(0, first, last - first);
    results.push_back(what == What::score ? prior->score(part, sigma) : prior->denoise(part, sigma));
    first = last;
  }
  io::write_npy(options.output, at::cat(results).reshape(given.sizes()).cpu());
  return success;
}

template <What what>
std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_prior_options(command, options->prior, "float32");
  command.add_option("--input", options->input, "images, NPY: [H, W] or [N, C, H, W]")->required();
  command.add_option("--sigma", options->sigmas, "noise level, one for all or one an image")
      ->required()
      ->delimiter(',');
  command.add_option("--output", options->output, "result, NPY, shaped like the input")->required();
  command.add_option("--precision", options->precision, "float32 or float64")
      ->check(CLI::IsMember({"float32", "float64"}));
  add_machine_options(command, options->machine);
  return [options] { return apply(*options, what); };
}

}  // namespace

extern const CommandEntry score{"score", "the prior's score at given images", declare<What::score>};
extern const CommandEntry denoise{"denoise", "the prior as an MMSE denoiser", declare<What::denoise>};

}  // namespace penumbra::app
