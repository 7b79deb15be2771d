/// CUDA kernel of the Langevin update, without LibTorch: pointers in, an error text out (null: none).
#pragma once

#include <cstdint>

struct CUstream_st;

namespace penumbra::cuda {

/// The order of StepNumbers::write.
struct LangevinNumbers {
  double sigma, alpha, gamma, noise, k;
};

struct LangevinProblem {
  uint64_t seed;
  uint32_t stream, first_chain;
  int64_t chains, per_chain;
  LangevinNumbers numbers;
  const LangevinNumbers* held;  ///< on the device, in place of `numbers`; null: those
};

/// out = x - gamma (gradient - alpha score) + noise z, each [chains, per_chain]; z as cuda::draw has it.
const char* langevin_update(const LangevinProblem& problem, const float* x, const float* gradient, const float* score,
                            float* out, CUstream_st* stream);

}  // namespace penumbra::cuda
