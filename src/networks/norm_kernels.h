/// CUDA kernels of the fused normalisation, without LibTorch: pointers in, an error text out (null: none).
///
/// Images are channels-last, [n, pixels, channels]. A block of threads takes a chunk of one image's pixels and all its
/// channels, eight channels a thread, so that every access is 16 bytes wide and neighbouring threads are neighbours in
/// memory.
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
  int width = 1;  ///< of the image; for resampling
  Resample resample = Resample::none;
};

/// Chunks into which an image's pixels are cut.
int norm_chunks(const NormProblem& problem);

/// `statistics` is [n, chunks, groups, 2]: sum and sum of squares of each chunk. `shift`, [channels] in x's type, is
/// added to x first. It and `film` may be null.
const char* norm_forward(const NormProblem& problem, const void* x, const void* shift, const float* weight,
                         const float* bias, const float* film, void* y, float* statistics, CUstream_st* stream);

/// `partial` is scratch, [n, chunks, channels, 2]; `sums` [n, channels, 2] receives the sums over pixels of dz and of
/// dz times the normalised x.
const char* norm_backward(const NormProblem& problem, const void* x, const void* dy, const float* weight,
                          const float* bias, const float* film, const float* statistics, float* partial, float* sums,
                          void* dx, CUstream_st* stream);

}  // namespace penumbra::cuda
