#include "samplers/cuda_langevin.h"

#include <ATen/ATen.h>

#include "core/cuda_device.h"
#include "core/error.h"

#ifdef PENUMBRA_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "samplers/langevin_kernels.h"
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

bool cuda_langevin_serves(const Tensor& /*x*/, const Tensor& /*grad_g*/, const Tensor& /*score*/) { return false; }

Tensor cuda_langevin_update(const Tensor& /*x*/, const Tensor& /*grad_g*/, const Tensor& /*score*/,
                            const StepScalars& /*numbers*/, const Cursor& /*at*/) {
  machine_error("CUDA: this build has no kernels");
}

#else

bool cuda_langevin_serves(const Tensor& x, const Tensor& grad_g, const Tensor& score) {
  const auto plain = [&](const Tensor& t) {
    return t.is_cuda() && t.device() == x.device() && t.scalar_type() == at::kFloat && t.is_contiguous() &&
           t.sizes() == x.sizes();
  };
  return kernels_run_on(x.device()) && x.dim() > 0 && x.numel() > 0 && plain(x) && plain(grad_g) && plain(score);
}

Tensor cuda_langevin_update(const Tensor& x, const Tensor& grad_g, const Tensor& score, const StepScalars& numbers,
                            const Cursor& at) {
  const c10::cuda::CUDAGuard on(x.device());
  cuda::LangevinProblem problem{};
  problem.seed = at.seed;
  problem.stream = static_cast<uint32_t>(Stream::langevin);
  problem.first_chain = static_cast<uint32_t>(at.first_chain);
  problem.chains = x.size(0);
  problem.per_chain = x.numel() / x.size(0);
  if (numbers.known) {
    const auto& known = *numbers.known;
    problem.numbers = {known.sigma, known.alpha, known.gamma, known.noise, static_cast<double>(known.k)};
  } else {
    problem.held = reinterpret_cast<const cuda::LangevinNumbers*>(numbers.held.data_ptr<double>());
  }
  auto moved = at::empty_like(x);
  const char* error =
      cuda::langevin_update(problem, x.data_ptr<float>(), grad_g.data_ptr<float>(), score.data_ptr<float>(),
                            moved.data_ptr<float>(), c10::cuda::getCurrentCUDAStream().stream());
  if (error != nullptr) machine_error("CUDA: Langevin update: {}", error);
  return moved;
}

#endif

}  // namespace penumbra
