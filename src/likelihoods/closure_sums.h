/// Sums over the legs of closures and over the closures of a leg, for all chains; and the closures' inverse covariance.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "vlbi/closures.h"

namespace penumbra {

/// A sparse matrix of signs E, [closures, rows], as gathers: their sums have one order on every device, unlike those of
/// scattered additions, so that a run can be repeated.
class ClosureSums {
 public:
  template <size_t legs>
  ClosureSums(const std::vector<vlbi::Closure<legs>>& closures, int64_t rows, const Placement& placement);

  /// E x: [rows, chains] to [closures, chains].
  Tensor over_legs(const Tensor& x) const;
  /// E^T r: [closures, chains] to [rows, chains].
  Tensor over_closures(const Tensor& r) const;

 private:
  /// One entry for each sum: where it is taken from, [sums], and its sign, [sums, 1]; 0 where there is none.
  using Entries = std::vector<std::pair<Tensor, Tensor>>;
  static Entries entries(const std::vector<std::vector<std::pair<int64_t, int>>>& sums, const Placement& placement);
  static Tensor gather(const Entries& entries, const Tensor& x);

  Entries legs_, closures_;
};

/// What annealing adds: one variance to every visibility; what is no visibility gets `factor` times its own instead.
/// Both 0-dimensional, float64, of the host or in a device's memory.
struct MoreNoise {
  Tensor variance, factor;
};

/// Variances that grow with that of the visibilities, `own` + `growth` times what is added, [n, 1].
struct GrowingVariance {
  Tensor own, growth;

  GrowingVariance with(const MoreNoise& more) const;
};

/// SDs of visibilities, of which closures are formed.
std::vector<double> sds_of(const vlbi::Observation& observation);

/// To first order, of each closure: what is added to a visibility's variance counts by 1 / |V|^2 of each leg.
template <size_t legs>
GrowingVariance closure_variances(const std::vector<vlbi::Closure<legs>>& closures, const std::vector<double>& sds,
                                  const Placement& placement);

/// C^-1, where C is diagonal, or block by block, a time each: closures with a leg in common are correlated.
class ClosurePrecision {
 public:
  /// Throws InputError where C has no inverse, as that of closures that imply each other.
  template <size_t legs>
  static ClosurePrecision correlated(const std::vector<vlbi::Closure<legs>>& closures, const std::vector<double>& sds,
                                     const Placement& placement);
  static ClosurePrecision diagonal(const GrowingVariance& variance);

  bool is_diagonal() const { return !whitening_.defined(); }
  /// Of correlated closures the added variance is looked at by the host.
  ClosurePrecision with(const MoreNoise& more) const;
  /// C^-1 r: [closures, chains] to the same.
  Tensor times(const Tensor& r) const;
  /// r^T C^-1 r, [chains]; never below zero.
  Tensor squared(const Tensor& r) const;

 private:
  Tensor whitened(const Tensor& r) const;

  std::optional<GrowingVariance> variance_;  ///< where C is diagonal
  std::function<ClosurePrecision(const MoreNoise&)> correlated_with_;
  Tensor diagonal_;   ///< [closures, 1]
  Tensor whitening_;  ///< L^-1 with C = L L^T, [times, most closures of a time, the same], zero where a time has fewer
  Tensor padded_;     ///< [times * most]: the closure there; one past the last where there is none
  Tensor position_;   ///< [closures]: where each is in the padded order
};

}  // namespace penumbra
