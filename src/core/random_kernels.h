/// CUDA kernel of the counter-based generator, without LibTorch: pointers in, an error text out (null: none).
#pragma once

#include <cstdint>

struct CUstream_st;

namespace penumbra::cuda {

enum class Law { normal, uniform };

/// Numbers of `chains` chains, `per_chain` each: the same as the CPU's to the last digits of double precision.
struct DrawProblem {
  Law law;
  uint64_t seed;
  uint32_t iteration, stream, first_chain;
  int64_t chains, per_chain;
};

const char* draw(const DrawProblem& problem, float* out, CUstream_st* stream);
const char* draw(const DrawProblem& problem, double* out, CUstream_st* stream);

}  // namespace penumbra::cuda
