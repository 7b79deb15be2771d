#include "core/random_kernels.h"

#include <cuda_runtime.h>

namespace penumbra::cuda {
namespace {

constexpr int block_threads = 256;

/// Philox 4x32-10, the counter as in random.cpp: {block, iteration, chain, stream}.
__device__ uint4 philox(uint4 c, uint64_t seed) {
  auto key_0 = static_cast<uint32_t>(seed), key_1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product_0 = 0xD2511F53ull * c.x, product_1 = 0xCD9E8D57ull * c.z;
    c = {static_cast<uint32_t>(product_1 >> 32) ^ c.y ^ key_0, static_cast<uint32_t>(product_1),
         static_cast<uint32_t>(product_0 >> 32) ^ c.w ^ key_1, static_cast<uint32_t>(product_0)};
    key_0 += 0x9E3779B9u;
    key_1 += 0xBB67AE85u;
  }
  return c;
}

__device__ double to_unit(uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// Box and Muller, in double precision like the CPU's: the numbers are the same, not only their law.
__device__ void normal_pair(uint32_t radius_word, uint32_t angle_word, double* out) {
  const double radius = sqrt(-2 * log(to_unit(radius_word)));
  double sine, cosine;
  sincospi(2 * to_unit(angle_word), &sine, &cosine);
  out[0] = radius * cosine;
  out[1] = radius * sine;
}

/// One thread a block of four numbers.
template <typename Number>
__global__ void draw_kernel(DrawProblem p, Number* out) {
  const int64_t blocks_per_chain = (p.per_chain + 3) / 4;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= p.chains * blocks_per_chain) return;
  const int64_t chain = index / blocks_per_chain, block = index % blocks_per_chain;
  const uint4 words = philox(
      {static_cast<uint32_t>(block), p.iteration, p.first_chain + static_cast<uint32_t>(chain), p.stream}, p.seed);
  double numbers[4] = {to_unit(words.x), to_unit(words.y), to_unit(words.z), to_unit(words.w)};
  if (p.law == Law::normal) {
    normal_pair(words.x, words.y, numbers);
    normal_pair(words.z, words.w, numbers + 2);
  }
  const int64_t first = 4 * block;
  for (int i = 0; i < 4 && first + i < p.per_chain; ++i)
    out[chain * p.per_chain + first + i] = static_cast<Number>(numbers[i]);
}

template <typename Number>
const char* launch(const DrawProblem& p, Number* out, CUstream_st* stream) {
  const int64_t threads = p.chains * ((p.per_chain + 3) / 4);
  if (threads == 0) return nullptr;
  draw_kernel<<<static_cast<unsigned>((threads + block_threads - 1) / block_threads), block_threads, 0, stream>>>(p,
                                                                                                                  out);
  const auto error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace

const char* draw(const DrawProblem& problem, float* out, CUstream_st* stream) { return launch(problem, out, stream); }
const char* draw(const DrawProblem& problem, double* out, CUstream_st* stream) { return launch(problem, out, stream); }

}  // namespace penumbra::cuda
