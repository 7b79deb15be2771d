#include "samplers/langevin_kernels.h"

#include "core/launch.cuh"
#include "core/philox.cuh"

namespace penumbra::cuda {
namespace {

constexpr int block_threads = 256;

/// Rounded after every operation, as LibTorch's separate kernels round: recorded and plain steps are the same.
__device__ float moved(float x, float gradient, float score, float z, const LangevinNumbers& n) {
  const auto alpha = static_cast<float>(n.alpha), gamma = static_cast<float>(n.gamma);
  const auto noise = static_cast<float>(n.noise);
  const float drift = __fmul_rn(gamma, __fsub_rn(gradient, __fmul_rn(alpha, score)));
  return __fadd_rn(__fsub_rn(x, drift), __fmul_rn(noise, z));
}

/// One thread the four pixels of a block of noise; `whole`: every row has whole blocks, and 16 bytes are read at once.
template <bool whole>
__global__ void langevin_kernel(LangevinProblem p, const float* x, const float* gradient, const float* score,
                                float* out) {
  const LangevinNumbers n = p.held != nullptr ? *p.held : p.numbers;
  const int64_t blocks_per_chain = (p.per_chain + 3) / 4;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= p.chains * blocks_per_chain) return;
  const int64_t chain = index / blocks_per_chain, block = index % blocks_per_chain;
  const uint4 words = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(static_cast<int64_t>(n.k)),
                              p.first_chain + static_cast<uint32_t>(chain), p.stream},
                             p.seed);
  double z[4];
  normal_block(words, z);
  const int64_t first = chain * p.per_chain + 4 * block;
  if constexpr (whole) {
    const float4 at = *reinterpret_cast<const float4*>(x + first);
    const float4 g = *reinterpret_cast<const float4*>(gradient + first);
    const float4 s = *reinterpret_cast<const float4*>(score + first);
    *reinterpret_cast<float4*>(out + first) = {
        moved(at.x, g.x, s.x, static_cast<float>(z[0]), n), moved(at.y, g.y, s.y, static_cast<float>(z[1]), n),
        moved(at.z, g.z, s.z, static_cast<float>(z[2]), n), moved(at.w, g.w, s.w, static_cast<float>(z[3]), n)};
  } else {
    for (int i = 0; i < 4 && 4 * block + i < p.per_chain; ++i)
      out[first + i] = moved(x[first + i], gradient[first + i], score[first + i], static_cast<float>(z[i]), n);
  }
}

bool aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % sizeof(float4) == 0; }

}  // namespace

const char* langevin_update(const LangevinProblem& p, const float* x, const float* gradient, const float* score,
                            float* out, CUstream_st* stream) {
  const int64_t threads = p.chains * ((p.per_chain + 3) / 4);
  if (threads == 0) return nullptr;
  const auto grid = static_cast<unsigned>((threads + block_threads - 1) / block_threads);
  // A view into a larger tensor may begin anywhere.
  if (p.per_chain % 4 == 0 && aligned(x) && aligned(gradient) && aligned(score) && aligned(out))
    langevin_kernel<true><<<grid, block_threads, 0, stream>>>(p, x, gradient, score, out);
  else
    langevin_kernel<false><<<grid, block_threads, 0, stream>>>(p, x, gradient, score, out);
  return last_error();
}

}  // namespace penumbra::cuda
