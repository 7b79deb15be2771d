/// A map of images in the plane on which near ones stay near: exact t-SNE (van der Maaten & Hinton, JMLR 9, 2008).
///
/// p_ij = (p_j|i + p_i|j) / 2N with p_j|i proportional to exp(-b_i |x_i - x_j|^2), b_i such that the entropy of row i
/// is log(perplexity); q_ij is proportional to 1 / (1 + |y_i - y_j|^2). The map minimises KL(P || Q). Distances on it
/// mean little beyond "near" and "far", and sizes of its heaps mean nothing.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace penumbra::diagnostics {

struct TsneOptions {
  double perplexity = 20;  ///< neighbours that count; at most (N - 1)/3 are used
  int64_t steps = 1000;
  uint64_t seed = 0;
};

constexpr int64_t most_on_map = 2000;

/// Places [N, 2] of images [N, ...], N from 4 to `most_on_map`; the same for the same seed.
Tensor tsne(const Tensor& images, const TsneOptions& options = {});

/// p_j|i, [N, N], from squared distances; each row's entropy is log(perplexity) to 1e-9 where such a row exists.
Tensor neighbour_probabilities(const Tensor& squared_distances, double perplexity);

/// KL(P || Q) of places y [N, 2], in nats.
double map_cost(const Tensor& P, const Tensor& y);

/// Its gradient, [N, 2].
Tensor map_gradient(const Tensor& P, const Tensor& y);

}  // namespace penumbra::diagnostics
