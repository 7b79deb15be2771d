#include "priors/network.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>

#include <limits>

#include "priors/clamped_sigma.h"
#include "priors/inexact.h"

namespace penumbra {
namespace {

at::ScalarType type_of(Compute compute) {
  switch (compute) {
    case Compute::bfloat16:
      return at::kBFloat16;
    case Compute::float16:
      return at::kHalf;
    default:
      return at::kFloat;
  }
}

/// Whether this machine multiplies bfloat16 faster than float32.
bool prefers_bfloat16(const at::Device& device) {
  if (device.is_cuda()) return true;
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

ScoreNetwork bind(const NetworkHeader& header, const Architecture& architecture,
                  const std::map<std::string, Tensor>& tensors, at::ScalarType type, const at::Device& device) {
  ScoreNetwork result;
  result.parameterisation = header.parameterisation;
  result.compute = type;
  // Convolutions are faster with the channels last: nothing is rearranged on the way.
  result.format = at::MemoryFormat::ChannelsLast;
  result.network = architecture.make([&](const ParameterSpec& spec) {
    const auto tensor = tensors.at(spec.name).to(device, spec.wide ? at::kFloat : type);
    return tensor.dim() == 4 ? tensor.contiguous(result.format) : tensor.contiguous();
  });
  return result;
}

/// Part of an image on which two networks are compared: what is large is cut, the architecture permitting.
Shape probe_shape(const NetworkHeader& header, int64_t size_factor) {
  constexpr int64_t enough = 256;
  const auto side = std::max(size_factor, enough / size_factor * size_factor);
  const auto& shape = header.image_shape;
  return {1, shape[0], std::min(shape[1], side), std::min(shape[2], side)};
}

/// Relative difference of two networks' scores, the largest of a few noise levels; infinite where one is no number.
double difference(const ScoreNetwork& a, const ScoreNetwork& b, const NetworkHeader& header, const Shape& shape,
                  const at::Device& device) {
  c10::NoGradGuard no_gradients;
  const auto like = at::empty(shape, at::TensorOptions().dtype(at::kFloat).device(device));
  const auto noise = normal({0, 0, 0}, Stream::probe, like);
  const auto labels = a.network->classes() > 0 ? at::zeros({1}, like.options().dtype(at::kLong)) : Tensor();
  double worst = 0;
  for (const double sigma : {0.02, 0.2, 2.0}) {
    const double level =
        std::clamp(sigma * (header.pixel_high - header.pixel_low) / 2, header.sigma_low, header.sigma_high);
    const auto x = (header.pixel_low + header.pixel_high) / 2 + level * noise;
    const auto s = at::full({1}, level, like.options());
    const auto exact = a.score(x, s, labels);
    const double error = (b.score(x, s, labels) - exact).norm().item<double>(), size = exact.norm().item<double>();
    if (!std::isfinite(error) || !std::isfinite(size)) return std::numeric_limits<double>::infinity();
    if (error > 0) worst = std::max(worst, error / size);
  }
  return worst;
}

}  // namespace

ScoreNetwork bind_network(const NetworkHeader& header, const std::map<std::string, Tensor>& tensors, Compute compute,
                          const at::Device& device, const std::string& file) {
  const Architecture architecture(header.architecture, file);
  require_parameters(tensors, architecture.parameters(), file);
  if (device.is_cuda()) {
    // float32 means float32: cuDNN would otherwise round to ten bits.
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setBenchmarkCuDNN(true);
  }
  if (compute != Compute::fastest) return bind(header, architecture, tensors, type_of(compute), device);
  const auto exact = bind(header, architecture, tensors, at::kFloat, device);
  if (!prefers_bfloat16(device)) return exact;
  const auto fast = bind(header, architecture, tensors, at::kBFloat16, device);
  constexpr double tolerance = 0.02;
  const auto shape = probe_shape(header, architecture.size_factor());
  return difference(exact, fast, header, shape, device) <= tolerance ? fast : exact;
}

NetworkScore::NetworkScore(LoadedNetwork loaded, double pixel_low, double pixel_high, std::optional<int64_t> label)
    : Score(loaded.header.image_shape), loaded_(std::move(loaded)), pixel_range_(pixel_low, pixel_high), label_(label) {
  const auto& header = loaded_.header;
  scale_ = (header.pixel_high - header.pixel_low) / (pixel_high - pixel_low);
  offset_ = header.pixel_low - scale_ * pixel_low;
}

SigmaRange NetworkScore::sigma_range() const {
  return {loaded_.header.sigma_low / scale_, loaded_.header.sigma_high / scale_};
}

NetworkScore::Given NetworkScore::given(const Tensor& x, const Tensor& sigmas) const {
  return {(scale_ == 1 && offset_ == 0 ? x : scale_ * x + offset_).to(at::kFloat), sigmas,
          label_ ? at::full({x.size(0)}, *label_, at::TensorOptions().dtype(at::kLong).device(x.device())) : Tensor()};
}

Tensor NetworkScore::same_for_all(const Tensor& x, double sigma) const {
  return at::full({x.size(0)}, scale_ * sigma, x.options().dtype(at::kFloat));
}

Tensor NetworkScore::score_at(const Tensor& x, const Tensor& sigmas) const {
  const auto [images, levels, labels] = given(x, sigmas);
  const auto score = loaded_.network.score(images, levels, labels).to(x.scalar_type());
  return scale_ == 1 ? score : scale_ * score;
}

Tensor NetworkScore::do_score(const Tensor& x, double sigma, const Cursor& /*at*/) const {
  return score_at(x, same_for_all(x, sigma));
}

Tensor NetworkScore::same_for_all(const Tensor& x, const Tensor& sigma) const {
  return (scale_ * sigma).to(at::kFloat).expand({x.size(0)});
}

Tensor NetworkScore::do_score_held(const Tensor& x, const Tensor& sigma) const {
  return score_at(x, same_for_all(x, sigma));
}

Tensor NetworkScore::denoise_at(const Tensor& x, const Tensor& sigmas) const {
  const auto [images, levels, labels] = given(x, sigmas);
  const auto denoised = loaded_.network.denoise(images, levels, labels).to(x.scalar_type());
  return scale_ == 1 && offset_ == 0 ? denoised : (denoised - offset_) / scale_;
}

Tensor NetworkScore::do_denoise(const Tensor& x, double sigma, const Cursor& /*at*/) const {
  return denoise_at(x, same_for_all(x, sigma));
}

Tensor NetworkScore::do_denoise_held(const Tensor& x, const Tensor& sigma) const {
  return denoise_at(x, same_for_all(x, sigma));
}

Tensor NetworkScore::do_denoise_each(const Tensor& x, const std::vector<double>& sigmas, const Cursor& /*at*/) const {
  return denoise_at(x, (scale_ * at::tensor(sigmas, at::kDouble)).to(x.device(), at::kFloat));
}

std::optional<std::string> network_compute(const Score& prior) {
  if (const auto* outer = dynamic_cast<const ClampedSigmaScore*>(&prior)) return network_compute(outer->unclamped());
  if (const auto* outer = dynamic_cast<const ClippedScore*>(&prior)) return network_compute(outer->unclipped());
  if (const auto* outer = dynamic_cast<const InexactScore*>(&prior)) return network_compute(outer->exact());
  const auto* network = dynamic_cast<const NetworkScore*>(&prior);
  if (network == nullptr) return std::nullopt;
  const auto type = network->loaded().network.compute;
  return type == at::kBFloat16 ? "bfloat16" : type == at::kHalf ? "float16" : "float32";
}

}  // namespace penumbra
