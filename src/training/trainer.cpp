#include "training/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>

#include "core/error.h"

namespace penumbra::training {
namespace {

at::MemoryFormat format_for(const TrainerOptions& options, at::Device device) {
  return options.compute == at::kFloat && device.is_cpu() ? at::MemoryFormat::Contiguous
                                                          : at::MemoryFormat::ChannelsLast;
}

/// Two numbers as one seed, well mixed.
uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t h = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

}  // namespace

Trainer::Trainer(const TrainerOptions& options, const NetworkHeader& header, const ImageSet& images, const Team& team,
                 at::Device device)
    : options_(options),
      header_(header),
      images_(images),
      team_(team),
      device_(device),
      order_(options.seed, images.train.size(0), options.batch),
      parameters_(Architecture(header.architecture, "network").parameters(),
                  initial_parameters(Architecture(header.architecture, "network").parameters(), options.seed), device,
                  options.compute, format_for(options, device)),
      adam_(options.adam, parameters_.values()) {
  network_.network = Architecture(header.architecture, "network").make(parameters_.source());
  network_.parameterisation = header.parameterisation;
  network_.compute = options.compute;
  network_.format = format_for(options, device);
  ema_ = parameters_.values().clone();
  gradient_ = at::zeros_like(ema_);
  if (!device.is_cuda()) return;
  at::globalContext().setBenchmarkCuDNN(true);
  // The first layer sees the image in float32; cuDNN would otherwise round it to ten bits, until the first samples are
  // drawn: binding a network for that turns the rounding off for the whole process.
  at::globalContext().setAllowTF32CuDNN(false);
}

/// On the CPU the bits depend on (seed, row, step) alone; on a GPU, whose own generator is many times faster, on the
/// rank as well.
Tensor Trainer::noise(const Tensor& like, int64_t first_row) const {
  if (like.is_cuda()) return at::randn_like(like);
  return normal({options_.seed, first_row, k_}, Stream::training_noise, like);
}

Tensor Trainer::weight(const Tensor& sigma) const {
  if (header_.parameterisation.kind != Parameterisation::Kind::karras) return 1 / sigma.square();
  return 1 / KarrasCoefficients(sigma, header_.parameterisation.sigma_data).out.square().flatten();
}

Tensor Trainer::loss(const Tensor& x, const Tensor& sigma, const Tensor& noise) const {
  const auto noisy = x + sigma.reshape({-1, 1, 1, 1}) * noise;
  const auto error = network_.denoise(noisy, sigma, {}, /*drop=*/true) - x;
  return (error.square().mean({1, 2, 3}) * weight(sigma)).mean();
}

Trainer::Step Trainer::step() {
  const auto rows = rows_of_rank(options_.batch, team_.rank(), team_.size());
  // Dropout and GPU noise draw from LibTorch's generator: a seed for every step makes them resume exactly.
  auto generator = at::globalContext().defaultGenerator(device_);
  generator.set_current_seed(mix(mix(options_.seed, static_cast<uint64_t>(k_)), static_cast<uint64_t>(team_.rank())));
  const auto indices = order_(k_).narrow(0, rows.first, rows.count);
  // One level from each of `batch` equal parts of the law: the loss varies less from step to step.
  const auto place =
      at::arange(options_.batch, at::TensorOptions().dtype(at::kDouble)).narrow(0, rows.first, rows.count);
  const auto offset = uniform({options_.seed, rows.first, k_}, Stream::noise_level, place.unsqueeze(1)).squeeze(1);
  const auto sigma = options_.levels((place + offset) / static_cast<double>(options_.batch)).to(at::kFloat);

  gradient_.zero_();
  auto total = at::zeros({}, gradient_.options());
  for (int64_t part = 0; part < options_.accumulate; ++part) {
    const auto cut = rows_of_rank(rows.count, part, options_.accumulate);
    if (cut.count == 0) continue;
    const auto first = rows.first + cut.first;
    auto x = images_.batch(indices.narrow(0, cut.first, cut.count), {at::kFloat, device_});
    x = augment(x, options_.augment, {options_.seed, first, k_});
    const double share = static_cast<double>(cut.count) / static_cast<double>(options_.batch);
    c10::AutoGradMode gradients(true);
    const auto value = share * loss(x, sigma.narrow(0, cut.first, cut.count).to(device_), noise(x, first));
    value.backward();
    parameters_.collect_gradient(gradient_);
    total.add_(value.detach());
  }
  team_.sum(gradient_);
  team_.sum(total);
  const auto norm = adam_.step(parameters_.values(), gradient_, k_, options_.steps);
  parameters_.refresh();
  const auto done = static_cast<double>(k_ + 1);
  ema_.lerp_(parameters_.values(), 1 - std::min(options_.ema_decay, done / (done + 10)));
  ++k_;
  return {total, norm};
}

std::vector<BandQuality> Trainer::validate(Which which, int64_t bands, int64_t images) const {
  c10::NoGradGuard no_gradients;
  const auto count = std::min(images, images_.validation.size(0));
  const auto edges = options_.levels.bands(bands);
  auto judged = network_;
  if (which == Which::ema) {
    const auto tensors = weights(which);
    judged.network = Architecture(header_.architecture, "network").make([&](const ParameterSpec& spec) {
      const auto tensor = tensors.at(spec.name).to(device_, spec.wide ? at::kFloat : options_.compute);
      return tensor.dim() == 4 ? tensor.contiguous(network_.format) : tensor;
    });
  }
  // As many at once as training takes.
  const auto batch = std::max<int64_t>(1, options_.batch / team_.size() / options_.accumulate);
  std::vector<BandQuality> result;
  for (int64_t band = 0; band < bands; ++band) {
    const double low = edges[static_cast<size_t>(band)], high = edges[static_cast<size_t>(band) + 1];
    double loss = 0, square = 0;
    for (int64_t first = 0; first < count; first += batch) {
      const auto here = std::min(batch, count - first);
      const auto x = images_.validation_batch(at::arange(first, first + here), {at::kFloat, at::kCPU});
      const auto part =
          (at::arange(first, first + here, at::TensorOptions().dtype(at::kDouble)) + 0.5) / static_cast<double>(count);
      const auto sigma = (low * (part * std::log(high / low)).exp()).to(at::kFloat);
      const auto noisy =
          x + sigma.reshape({-1, 1, 1, 1}) * normal({options_.seed, first, band}, Stream::validation_noise, x);
      const auto error = judged.denoise(noisy.to(device_), sigma.to(device_)).cpu() - x;
      const auto squares = error.square().mean({1, 2, 3});
      loss += (squares * weight(sigma)).sum().item<double>();
      square += squares.sum().item<double>();
    }
    const auto n = static_cast<double>(count);
    const double peak = (header_.pixel_high - header_.pixel_low) / 2;
    result.push_back({low, high, loss / n, 10 * std::log10(peak * peak * n / square)});
  }
  return result;
}

std::map<std::string, Tensor> Trainer::weights(Which which) const {
  return parameters_.named(which == Which::ema ? ema_ : parameters_.values());
}

std::map<std::string, Tensor> Trainer::state() const {
  auto state = adam_.state();
  state["values"] = parameters_.values();
  state["ema"] = ema_;
  return state;
}

void Trainer::restore(const std::map<std::string, Tensor>& state, int64_t k) {
  for (const auto* name : {"values", "ema", "adam_mean", "adam_square"}) {
    const auto found = state.find(name);
    if (found == state.end() || found->second.sizes() != ema_.sizes())
      input_error("checkpoint: {}: expected {} numbers as this network has; the checkpoint is of another one", name,
                  ema_.numel());
  }
  c10::NoGradGuard no_gradients;
  parameters_.values().copy_(state.at("values"));
  parameters_.refresh();
  ema_.copy_(state.at("ema"));
  adam_.restore(state);
  k_ = k;
}

}  // namespace penumbra::training
