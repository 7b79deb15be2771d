/// Gauss-Legendre quadrature on [0, 1].
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace penumbra::theory {

/// (point, weight) pairs; exact for polynomials up to degree 2 count - 1. Newton's iteration on P_count.
inline std::vector<std::pair<double, double>> gauss_legendre(int count) {
  std::vector<std::pair<double, double>> rule;
  for (int i = 0; i < count; ++i) {
    double x = std::cos(M_PI * (i + 0.75) / (count + 0.5)), slope = 1;
    for (int round = 0; round < 50; ++round) {
      double p0 = 1, p1 = x;
      for (int k = 2; k <= count; ++k) {
        const double p2 = ((2 * k - 1) * x * p1 - (k - 1) * p0) / k;
        p0 = p1, p1 = p2;
      }
      slope = count == 1 ? 1 : count * (x * p1 - p0) / (x * x - 1);
      const double change = p1 / slope;
      x -= change;
      if (std::abs(change) < 1e-16) break;
    }
    rule.emplace_back((1 - x) / 2, 1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace penumbra::theory
