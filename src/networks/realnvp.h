/// RealNVP (Dinh, Sohl-Dickstein and Bengio 2017): an invertible map of R^n whose log-determinant costs nothing.
///
/// Each of its layers scales and shifts every coordinate by numbers of its own (actnorm), then one half of the
/// coordinates by what a small network makes of the other half:
///   u = exp(a) x + c,  u_b <- exp(s(u_a)) u_b + t(u_a),  s = bound tanh(raw / bound).
/// Which coordinates are a and which b is drawn at random for every pair of layers; the second of a pair has them the
/// other way round, so that none is left out. The actnorms start as the identity, not at the moments of data: there
/// are none in variational inference. All parameters are one flat tensor, which an optimiser moves as it is.
#pragma once

#include <vector>

#include "networks/parameters.h"

namespace penumbra {

struct RealNvpOptions {
  int64_t dimension = 0;  ///< n, at least 2
  int64_t layers = 8;
  int64_t width = 128;  ///< of the networks that make s and t
  double bound = 1;     ///< of |s|: no layer scales by more than exp(bound)
  uint64_t seed = 0;    ///< of the halves and of the start
};

class RealNvp {
 public:
  explicit RealNvp(const RealNvpOptions& options);

  int64_t parameter_count() const { return count_; }
  /// The start, [parameter_count]: the identity, since all s and t are zero there.
  Tensor initial_values(const Placement& placement) const;

  struct Moved {
    Tensor x;        ///< [draws, n]
    Tensor log_det;  ///< log |det of the map's Jacobian|, [draws]
  };
  /// f(z) with the parameters `values`, for z of [draws, n]; differentiable in both.
  Moved forward(const Tensor& values, const Tensor& z) const;
  /// The inverse map, and its own log-determinant.
  Moved inverse(const Tensor& values, const Tensor& x) const;

 private:
  struct Halves {
    Tensor a, b;  ///< the numbers of the coordinates, on the CPU
  };
  struct Layer;
  std::vector<Layer> layers(const ParameterSource& source) const;
  std::vector<Layer> bind(const Tensor& values) const;

  RealNvpOptions options_;
  std::vector<Halves> halves_;
  std::vector<int64_t> sizes_;  ///< of all parameters, one by one
  int64_t count_ = 0;
};

}  // namespace penumbra
