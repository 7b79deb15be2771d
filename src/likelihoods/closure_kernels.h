/// The CUDA kernel of the closure terms, without LibTorch: pointers in, an error text out (null: none).
#pragma once

#include <cstddef>

struct CUstream_st;

namespace penumbra::cuda {

/// Closures of one kind on the GPU. An entry of `legs` and of `closures` is an index i, or ~i with a minus.
struct ClosureSet {
  int count, legs_each;
  const int* legs;              ///< [count, legs_each]: the visibilities of each closure
  const float *y, *precision;   ///< [count]; precision times the term's weight
  const int *first, *closures;  ///< those of visibility i: closures[first[i]] to closures[first[i + 1]]
};

struct ClosureProblem {
  int rows, chains;
  float softening;  ///< added to |V|^2
};

/// Bytes that a block of threads needs; there are 48 KiB.
size_t closure_memory(int rows, int phases, int amplitudes);

/// Of V, [2 rows, chains], real parts above imaginary ones: the energy of all closures, [chains], phases by
/// (1 - cos d) / sd^2 and log amplitudes by d^2 / (2 sd^2), and its derivative by V, shaped like V.
const char* closure_pull(const ClosureProblem& problem, const ClosureSet& phases, const ClosureSet& amplitudes,
                         const float* V, float* energy, float* pull, CUstream_st* stream);

}  // namespace penumbra::cuda
