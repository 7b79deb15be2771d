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
      task_(options.task ? options.task : std::make_shared<Denoising>(options.levels)),
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

Trainer::Step Trainer::step() {
  const auto rows = rows_of_rank(options_.batch, team_.rank(), team_.size());
  // Dropout and GPU noise draw from LibTorch's generator: a seed for every step makes them resume exactly.
  auto generator = at::globalContext().defaultGenerator(device_);
  generator.set_current_seed(mix(mix(options_.seed, static_cast<uint64_t>(k_)), static_cast<uint64_t>(team_.rank())));
  const auto indices = order_(k_).narrow(0, rows.first, rows.count);

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
    const auto value = share * task_->loss(network_, x, {options_.seed, first, k_}, options_.batch);
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

/// With the averaged weights, or with those of the training.
ScoreNetwork Trainer::judged(Which which) const {
  auto network = network_;
  if (which == Which::raw) return network;
  const auto tensors = weights(which);
  network.network = Architecture(header_.architecture, "network").make([&](const ParameterSpec& spec) {
    const auto tensor = tensors.at(spec.name).to(device_, spec.wide ? at::kFloat : options_.compute);
    return tensor.dim() == 4 ? tensor.contiguous(network_.format) : tensor;
  });
  return network;
}

std::vector<BandQuality> Trainer::validate(Which which, int64_t bands, int64_t images) const {
  c10::NoGradGuard no_gradients;
  const auto network = judged(which);
  HeldOut held{.seed = options_.seed, .count = std::min(images, images_.validation.size(0)), .device = device_};
  // As many at once as training takes.
  const auto batch = std::max<int64_t>(1, options_.batch / team_.size() / options_.accumulate);
  std::vector<BandQuality> result;
  for (const auto& band : task_->bands(bands)) {
    double loss = 0, square = 0;
    for (held.first = 0; held.first < held.count; held.first += batch) {
      const auto here = std::min(batch, held.count - held.first);
      const auto x = images_.validation_batch(at::arange(held.first, held.first + here), {at::kFloat, at::kCPU});
      const auto judged = task_->judge(network, x, band, held);
      loss += judged.loss.sum().item<double>();
      square += judged.square.sum().item<double>();
    }
    const auto n = static_cast<double>(held.count);
    const double peak = (header_.pixel_high - header_.pixel_low) / 2;
    result.push_back({band.low, band.high, loss / n, 10 * std::log10(peak * peak * n / square)});
    ++held.band;
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
