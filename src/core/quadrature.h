/// Quadrature on [0, 1]: Gauss and Legendre's rule, and Clenshaw and Curtis's, whose points nest.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace penumbra {

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

/// (point, weight) at the intervals + 1 points (1 - cos(k pi / intervals)) / 2, an even number of intervals; exact for
/// polynomials up to degree `intervals`. Every other point is one of the rule with half as many.
inline std::vector<std::pair<double, double>> clenshaw_curtis(int intervals) {
  std::vector<std::pair<double, double>> rule;
  for (int k = 0; k <= intervals; ++k) {
    const double angle = M_PI * k / intervals;
    double sum = 1;
    for (int j = 1; 2 * j <= intervals; ++j)
      sum -= (2 * j == intervals ? 1 : 2) * std::cos(2 * j * angle) / (4.0 * j * j - 1);
    rule.emplace_back((1 - std::cos(angle)) / 2, sum / (k % intervals == 0 ? 2 : 1) / intervals);
  }
  return rule;
}

}  // namespace penumbra
