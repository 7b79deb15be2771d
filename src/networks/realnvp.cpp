#include "networks/realnvp.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/error.h"
#include "core/random.h"

namespace penumbra {
namespace {

/// W x / sqrt(inputs) + c. Adam moves every number by about its rate, however many there are: without the root a step
/// would move the outputs of thousands of inputs by far more than those of a few.
struct Scaled {
  Tensor weight, bias;
  Scaled(const ParameterSource& source, const std::string& name, Shape shape, Initial initial)
      : weight(source({name + ".weight", shape, initial})), bias(source({name + ".bias", {shape[0]}})) {}
  Tensor operator()(const Tensor& x) const {
    return at::linear(x / std::sqrt(static_cast<double>(x.size(1))), weight, bias);
  }
};

/// (s, t) of the other half. What leads round the nonlinearity makes every linear map of rank `width` one of these:
/// then a Gaussian posterior is a flow.
struct Conditioner {
  Scaled in, middle, out;
  Conditioner(const ParameterSource& source, const std::string& name, int64_t from, int64_t to, int64_t width)
      : in(source, name + ".in", {width, from}, Initial::normal),
        middle(source, name + ".middle", {width, width}, Initial::normal),
        out(source, name + ".out", {2 * to, width}, Initial::zero) {}
  Tensor operator()(const Tensor& x) const {
    const auto h = in(x);
    return out(h + middle(at::silu(h)));
  }
};

}  // namespace

struct RealNvp::Layer {
  Tensor a, c;
  Halves halves;
  Conditioner conditioner;
  double bound;

  struct ScaleShift {
    Tensor log_scale, shift;
  };
  ScaleShift of(const Tensor& u_a) const {
    const auto parts = conditioner(u_a).chunk(2, 1);
    return {bound * (parts[0] / bound).tanh(), parts[1]};
  }
};

RealNvp::RealNvp(const RealNvpOptions& options) : options_(options) {
  const auto n = options.dimension;
  if (n < 2) input_error("realnvp: expected images of at least two numbers, found {}", n);
  for (int64_t i = 0; i < options.layers; ++i) {
    const auto numbers = uniform({options.seed, i / 2, 0}, Stream::shuffle, at::empty({1, n}, at::kDouble));
    auto order = numbers.flatten().argsort();
    if (i % 2 == 1) order = order.flip(0);
    halves_.push_back({order.narrow(0, 0, n / 2), order.narrow(0, n / 2, n - n / 2)});
  }
  for (const auto& spec : list_parameters([&](const ParameterSource& source) { layers(source); })) {
    sizes_.push_back(element_count(spec.shape));
    count_ += sizes_.back();
  }
}

std::vector<RealNvp::Layer> RealNvp::layers(const ParameterSource& source) const {
  std::vector<Layer> layers;
  for (size_t i = 0; i < halves_.size(); ++i) {
    const auto name = fmt::format("layers.{}", i);
    const auto& halves = halves_[i];
    layers.push_back({source({name + ".log_scale", {options_.dimension}}),
                      source({name + ".shift", {options_.dimension}}), halves,
                      Conditioner(source, name, halves.a.numel(), halves.b.numel(), options_.width), options_.bound});
  }
  return layers;
}

std::vector<RealNvp::Layer> RealNvp::bind(const Tensor& values) const {
  if (values.dim() != 1 || values.numel() != count_)
    input_error("realnvp: expected {} parameters, found {}", count_, describe(values.sizes()));
  // Cut at once: the gradient of each cut by itself would be as long as all values.
  const auto parts = values.split_with_sizes(sizes_);
  auto part = parts.begin();
  auto bound = layers([&](const ParameterSpec& spec) { return (part++)->view(spec.shape); });
  for (auto& layer : bound) layer.halves = {layer.halves.a.to(values.device()), layer.halves.b.to(values.device())};
  return bound;
}

Tensor RealNvp::initial_values(const Placement& placement) const {
  const auto specs = list_parameters([&](const ParameterSource& source) { layers(source); });
  const auto tensors = initial_parameters(specs, options_.seed);
  std::vector<Tensor> parts;
  for (const auto& spec : specs) parts.push_back(tensors.at(spec.name).flatten());
  return place(at::cat(parts), placement);
}

RealNvp::Moved RealNvp::forward(const Tensor& values, const Tensor& z) const {
  auto x = z;
  auto log_det = at::zeros({z.size(0)}, z.options());
  for (const auto& layer : bind(values)) {
    const auto u = layer.a.exp() * x + layer.c;
    const auto [s, t] = layer.of(u.index_select(1, layer.halves.a));
    x = u.index_copy(1, layer.halves.b, s.exp() * u.index_select(1, layer.halves.b) + t);
    log_det = log_det + layer.a.sum() + s.sum(1);
  }
  return {x, log_det};
}

RealNvp::Moved RealNvp::inverse(const Tensor& values, const Tensor& x) const {
  auto z = x;
  auto log_det = at::zeros({x.size(0)}, x.options());
  const auto layers = bind(values);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const auto [s, t] = layer->of(z.index_select(1, layer->halves.a));
    const auto u = z.index_copy(1, layer->halves.b, (z.index_select(1, layer->halves.b) - t) * (-s).exp());
    z = (u - layer->c) * (-layer->a).exp();
    log_det = log_det - layer->a.sum() - s.sum(1);
  }
  return {z, log_det};
}

}  // namespace penumbra
