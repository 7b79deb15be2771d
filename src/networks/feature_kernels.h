/// CUDA kernels of a U-Net's passes over its images between convolutions, without gradients and without LibTorch:
/// pointers in, an error text out (null: none). Images are channels-last.
///
/// Whoever writes images also sums their channels, so that the normalisation that reads them next need not: `sums` is
/// [n, chunks, channels, 2], sum and sum of squares over each chunk's pixels, float32.
#pragma once

#include "networks/norm_kernels.h"

namespace penumbra::cuda {

struct Images {
  int n, height, width, channels;
  Element element;
};

/// Chunks of the sums of `sum_channels` and `add_images`.
int sum_chunks(const Images& images);

/// Of x + shift; `shift`, [channels] in x's type, may be null.
const char* sum_channels(const Images& images, const void* x, const void* shift, float* sums, CUstream_st* stream);

/// b <- resampled(a) + b + bias, and its sums; `images` are the result's. `bias`, [channels] in their type, may be
/// null.
const char* add_images(const Images& images, Resample resample, const void* a, void* b, const void* bias, float* sums,
                       CUstream_st* stream);

/// One tensor's channels of those that are normalised together.
struct NormPart {
  const float* sums;
  int chunks, channels;
};

struct NormAffine {
  const float *weight, *bias, *film;  ///< film, rows of 2 channels, scale then shift, may be null
  int film_step;                      ///< numbers between two images' rows
  int groups;
  float epsilon;
};

/// map, [n, channels of both parts, 2]: gain and offset of the normalisation, y = gain x + offset. The second part may
/// have no channels.
const char* norm_map(int n, int pixels, const NormPart& first, const NormPart& second, const NormAffine& affine,
                     float* map, CUstream_st* stream);

/// Where a part's channels go.
struct NormTarget {
  int channels, first_channel;  ///< of the result
  bool activate;
  Resample resample;
};

/// y = f(gain (x + shift) + offset), f = SiLU or the identity, resampled.
const char* apply_map(const Images& images, const NormTarget& target, const void* x, const void* shift,
                      const float* map, void* y, CUstream_st* stream);

/// One of the tensors whose channels follow one another in a block's input.
struct ImagePart {
  const void* x;
  int channels;  ///< may be 0
};

/// Whether `add_skip` knows such parts.
bool skip_knows(int first_channels, int second_channels, Element element);

/// Chunks of the sums of `add_skip`.
int skip_chunks(const Images& result);

/// b <- b + weight (first, second) + bias at every pixel, and its sums: weight is [channels, channels of both parts] in
/// the images' type. `bias` may be null.
const char* add_skip(const Images& result, const ImagePart& first, const ImagePart& second, const void* weight,
                     const void* bias, void* b, float* sums, CUstream_st* stream);

/// Whether `first_convolution` knows so many channels of images so wide.
bool first_convolution_knows(int channels, int width);

/// Chunks of the sums of `first_convolution`.
int first_chunks(const Images& result);

/// 3x3, from one channel to many, zeros around the image: x [n, height, width], weight [channels, 3, 3]; float32.
const char* first_convolution(const Images& result, const float* x, const float* weight, const float* bias, void* y,
                              float* sums, CUstream_st* stream);

/// Whether `last_convolution` knows so many channels.
bool last_convolution_knows(int channels, Element element);

/// 3x3, of SiLU(gain x + offset), to one channel, zeros around the image: y [n, height, width], weight [channels, 3,
/// 3]; float32, but that the weights are rounded to x's type. `products` is scratch, [n, 9, height, width].
const char* last_convolution(const Images& images, const void* x, const float* map, const float* weight,
                             const float* bias, float* products, float* y, CUstream_st* stream);

}  // namespace penumbra::cuda
