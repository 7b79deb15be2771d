#include "app/bench/subject.h"

#include <ATen/ATen.h>

#include <limits>

#include "core/error.h"
#include "priors/architecture_file.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

const json paper_256{{"kind", "unet"},
                     {"image_size", 256},
                     {"in_channels", 1},
                     {"out_channels", 1},
                     {"model_channels", 128},
                     {"num_res_blocks", 1},
                     {"channel_mult", {1, 1, 2, 2, 4, 4}},
                     {"attention_resolutions", {16, 8}},
                     {"num_head_channels", 64},
                     {"resblock_updown", true},
                     {"use_scale_shift_norm", true}};

Compute random_compute(const std::string& word, const at::Device& device) {
  if (word == "float32") return Compute::float32;
  if (word == "float16") return Compute::float16;
  if (word == "bfloat16") return Compute::bfloat16;
  return device.is_cuda() ? Compute::bfloat16 : Compute::float32;
}

std::shared_ptr<const NetworkScore> random_network(const BenchOptions& options, const Placement& placement) {
  const auto header = bench_header(options.prior.arch);
  auto specs = Architecture(header.architecture, header.name).parameters();
  for (auto& spec : specs)
    if (spec.initial == Initial::zero) spec.initial = Initial::fan_in;
  const auto compute = random_compute(options.prior.compute.value_or(options.prior.usual_compute), placement.device);
  LoadedNetwork loaded{header,
                       bind_network(header, initial_parameters(specs, 1), compute, placement.device, header.name),
                       parameter_count(specs),
                       {}};
  std::optional<int64_t> label;
  if (loaded.network.network->classes() > 0) label = 0;
  return std::make_shared<NetworkScore>(std::move(loaded), header.pixel_low, header.pixel_high, label);
}

}  // namespace

NetworkHeader bench_header(const std::filesystem::path& arch) {
  NetworkHeader header;
  header.name = arch.string();
  std::vector<std::filesystem::path> bases;
  header.architecture =
      arch == "paper-256" && !std::filesystem::exists(arch) ? paper_256 : read_architecture(arch, bases);
  const Architecture architecture(header.architecture, header.name);
  if (architecture.to_json().at("kind") == "varnet")
    input_error("--arch: {}: a reconstruction network, not a denoiser; expected unet or dncnn", header.name);
  const auto size = header.architecture.value("image_size", json());
  if (!size.is_number_integer() || size.get<int64_t>() < architecture.size_factor() ||
      size.get<int64_t>() > largest_extent || size.get<int64_t>() % architecture.size_factor() != 0)
    input_error("--arch: {}: image_size: expected a multiple of {}, found {}", header.name, architecture.size_factor(),
                size.dump());
  header.image_shape = {architecture.channels(), size.get<int64_t>(), size.get<int64_t>()};
  header.parameterisation.kind = Parameterisation::Kind::score;
  header.sigma_low = smallest_sigma;
  header.sigma_high = largest_sigma;
  return header;
}

std::shared_ptr<const NetworkScore> bench_network(const BenchOptions& options, const Placement& placement) {
  if (options.prior.prior.empty()) {
    if (options.prior.arch.empty())
      input_error("bench: expected a network: --arch paper-256, --arch with a file of options, or --prior");
    return random_network(options, placement);
  }
  auto network = std::dynamic_pointer_cast<const NetworkScore>(load_prior(options.prior, placement));
  if (!network) input_error("--prior: {}: expected a network and nothing around it", options.prior.prior);
  return network;
}

double gflop_per_image(const NetworkScore& prior) {
  const auto& shape = prior.image_shape();
  const auto operations = prior.loaded().network.network->operations(shape[1], shape[2]);
  return operations ? 1e-9 * *operations : std::numeric_limits<double>::quiet_NaN();
}

Tensor bench_images(const Score& prior, int64_t batch, const Placement& placement) {
  Shape shape = prior.image_shape();
  shape.insert(shape.begin(), batch);
  const auto like = at::empty(shape, at::TensorOptions().dtype(placement.precision).device(placement.device));
  return 2 * uniform({1, 0, 0}, Stream::start, like) - 1;
}

}  // namespace penumbra::app
