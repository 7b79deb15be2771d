#include "core/cuda_random.h"

#include <ATen/ATen.h>

#include "core/cuda_device.h"

#ifdef PENUMBRA_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "core/error.h"
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

bool cuda_draw(cuda::Law, const Cursor&, Stream, Tensor&) { return false; }

#else

bool cuda_draw(cuda::Law law, const Cursor& at, Stream stream, Tensor& out) {
  if (!kernels_run_on(out.device())) return false;
  const c10::cuda::CUDAGuard on(out.device());
  const cuda::DrawProblem problem{law,
                                  at.seed,
                                  static_cast<uint32_t>(at.k),
                                  static_cast<uint32_t>(stream),
                                  static_cast<uint32_t>(at.first_chain),
                                  out.size(0),
                                  out.size(0) > 0 ? out.numel() / out.size(0) : 0};
  const auto queue = c10::cuda::getCurrentCUDAStream().stream();
  const char* error = out.scalar_type() == at::kDouble ? cuda::draw(problem, out.data_ptr<double>(), queue)
                                                       : cuda::draw(problem, out.data_ptr<float>(), queue);
  if (error != nullptr) machine_error("CUDA: random numbers: {}", error);
  return true;
}

#endif

}  // namespace penumbra
