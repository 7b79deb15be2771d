#include "networks/cuda_norm.h"

#include <ATen/ATen.h>

#ifdef PENUMBRA_CUDA
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/cuda_device.h"
#include "core/error.h"
#include "networks/kernel_types.h"
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

bool cuda_norm_serves(const Tensor& /*x*/, const NormalizationTerms& /*terms*/) { return false; }

Tensor cuda_normalise(const Tensor& x, const NormalizationTerms& terms) { return normalise_plainly(x, terms); }

#else

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// No numbers: none.
const float* floats(const Tensor& x) { return x.numel() > 0 ? x.data_ptr<float>() : nullptr; }

cuda::NormProblem problem(const Tensor& x, int64_t groups, bool activate, double epsilon) {
  return {static_cast<int>(x.size(0)),
          static_cast<int>(x.size(2) * x.size(3)),
          static_cast<int>(x.size(1)),
          static_cast<int>(groups),
          activate,
          static_cast<float>(epsilon),
          element_of(x.scalar_type())};
}

void check(const char* error) {
  if (error != nullptr) machine_error("CUDA: group normalisation: {}", error);
}

/// y, and the partial sums from which the backward pass takes mean and spread.
std::pair<Tensor, Tensor> forward_pass(const Tensor& x, const NormalizationTerms& terms) {
  const c10::cuda::CUDAGuard on(x.device());
  const auto shape = problem(x, terms.groups, terms.activate, terms.epsilon);
  auto y = at::empty_like(x);
  auto statistics = at::empty({x.size(0), cuda::norm_chunks(shape), terms.groups, 2}, terms.weight.options());
  check(cuda::norm_forward(shape, x.data_ptr(), floats(terms.weight), floats(terms.bias), floats(terms.film),
                           y.data_ptr(), statistics.data_ptr<float>(), c10::cuda::getCurrentCUDAStream().stream()));
  return {y, statistics};
}

struct FusedNorm : torch::autograd::Function<FusedNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const Tensor& film, int64_t groups, bool activate, double epsilon) {
    auto [y, statistics] = forward_pass(x, {weight, bias, film, groups, activate, epsilon});
    context->save_for_backward({x, weight, bias, film, statistics});
    context->saved_data["groups"] = groups;
    context->saved_data["activate"] = activate;
    context->saved_data["epsilon"] = epsilon;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &bias = saved[2], &film = saved[3], &statistics = saved[4];
    // The kernels leave no graph: a second derivative would be wrong without a word.
    TORCH_CHECK(!c10::GradMode::is_enabled() || !(gradients[0].requires_grad() || x.requires_grad()),
                "group normalisation on a GPU has no second derivative");
    const c10::cuda::CUDAGuard on(x.device());
    const auto shape = problem(x, context->saved_data["groups"].toInt(), context->saved_data["activate"].toBool(),
                               context->saved_data["epsilon"].toDouble());
    const auto dy = gradients[0].to(x.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);
    auto dx = at::empty_like(x);
    // sums[n, c] = (sum of dz, sum of dz * normalised x), z the activation's argument.
    auto partial = at::empty({x.size(0), cuda::norm_chunks(shape), x.size(1), 2}, weight.options());
    auto sums = at::empty({x.size(0), x.size(1), 2}, weight.options());
    check(cuda::norm_backward(shape, x.data_ptr(), dy.data_ptr(), floats(weight), floats(bias), floats(film),
                              statistics.data_ptr<float>(), partial.data_ptr<float>(), sums.data_ptr<float>(),
                              dx.data_ptr(), c10::cuda::getCurrentCUDAStream().stream()));
    Tensor d_weight, d_bias, d_film;
    // Of a prior only the image's derivative is asked for.
    const bool of_parameters =
        context->needs_input_grad(1) || context->needs_input_grad(2) || context->needs_input_grad(3);
    if (!of_parameters) return {dx, d_weight, d_bias, d_film, Tensor(), Tensor(), Tensor()};
    const auto d_shift = sums.select(2, 0), d_gain = sums.select(2, 1);
    if (film.numel() > 0) {
      const auto factor = 1 + film.narrow(1, 0, x.size(1));
      d_weight = (d_gain * factor).sum(0);
      d_bias = (d_shift * factor).sum(0);
      d_film = at::cat({d_gain * weight + d_shift * bias, d_shift}, 1);
    } else {
      d_weight = d_gain.sum(0);
      d_bias = d_shift.sum(0);
    }
    return {dx, d_weight, d_bias, d_film, Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

bool cuda_norm_serves(const Tensor& x, const NormalizationTerms& terms) {
  return kernels_take(x) && terms_fit(terms, x.size(0), x.size(1));
}

Tensor cuda_normalise(const Tensor& x, const NormalizationTerms& terms) {
  // Custom functions take no undefined tensors.
  auto own = terms;
  own.film = terms.film.defined() ? terms.film.contiguous() : at::empty({0}, terms.weight.options());
  const auto y = c10::GradMode::is_enabled()
                     ? FusedNorm::apply(x, own.weight, own.bias, own.film, own.groups, own.activate, own.epsilon)
                     : forward_pass(x, own).first;
  return resampled(y, own.resample);
}

#endif

}  // namespace penumbra
