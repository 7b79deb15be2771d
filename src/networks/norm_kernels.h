/// CUDA kernels of the fused normalisation where gradients are wanted, without LibTorch: pointers in, an error text out
/// (null: none). Images are channels-last, [n, pixels, channels]. Without gradients: feature_kernels.h.
#pragma once

struct CUstream_st;

namespace penumbra::cuda {

enum class Element { float32, bfloat16, float16 };

/// Of the result: every pixel in a square of four, or the mean of four.
enum class Resample { none, up, down };

struct NormProblem {
  int n, pixels, channels, groups;
  bool activate;
  float epsilon;
  Element element;
};

/// Chunks into which an image's pixels are cut.
int norm_chunks(const NormProblem& problem);

/// `statistics` is [n, chunks, groups, 2]: sum and sum of squares of each chunk. `film` may be null.
const char* norm_forward(const NormProblem& problem, const void* x, const float* weight, const float* bias,
                         const float* film, void* y, float* statistics, CUstream_st* stream);

/// `partial` is scratch, [n, chunks, channels, 2]; `sums` [n, channels, 2] receives the sums over pixels of dz and of
/// dz times the normalised x.
const char* norm_backward(const NormProblem& problem, const void* x, const void* dy, const float* weight,
                          const float* bias, const float* film, const float* statistics, float* partial, float* sums,
                          void* dx, CUstream_st* stream);

}  // namespace penumbra::cuda
