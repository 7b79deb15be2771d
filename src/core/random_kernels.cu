#include "core/random_kernels.h"

#include "core/launch.cuh"
#include "core/philox.cuh"

namespace penumbra::cuda {
namespace {

constexpr int block_threads = 256;

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
  if (p.law == Law::normal) normal_block(words, numbers);
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
  return last_error();
}

}  // namespace

const char* draw(const DrawProblem& problem, float* out, CUstream_st* stream) { return launch(problem, out, stream); }
const char* draw(const DrawProblem& problem, double* out, CUstream_st* stream) { return launch(problem, out, stream); }

}  // namespace penumbra::cuda
