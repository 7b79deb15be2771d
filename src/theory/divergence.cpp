#include "theory/divergence.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "core/error.h"

namespace penumbra::theory {

Divergence gaussian_divergence(const GaussianLaw& nu, const Tensor& pi_mean, const Tensor& pi_precision) {
  const auto& L = pi_precision;
  const auto& C = nu.covariance;
  const auto root = at::linalg_cholesky(C);
  const auto Ld = L.mv(nu.mean - pi_mean);
  const auto LC_trace = (L * C).sum();
  const auto log_det = 2 * root.diagonal().log().sum() + 2 * at::linalg_cholesky(L).diagonal().log().sum();
  const auto kl = (LC_trace - C.size(0) + (nu.mean - pi_mean).dot(Ld) - log_det) / 2;
  const auto fi = (L.mm(L) * C).sum() - 2 * L.trace() + at::cholesky_inverse(root).trace() + Ld.dot(Ld);
  return {fi.item<double>(), kl.item<double>()};
}

Divergence gaussian_divergence(const GaussianLaw& nu, const GaussianLaw& pi) {
  return gaussian_divergence(nu, pi.mean, at::cholesky_inverse(at::linalg_cholesky(pi.covariance)));
}

namespace {

/// One component in the plane: log(w N(x; mu, S)) = log_scale - (x - mu)^T P (x - mu) / 2.
struct Plane {
  double log_scale, mx, my, pxx, pxy, pyy;
};

std::vector<Plane> planes(const Mixture& mixture, const char* name) {
  if (mixture.means.dim() != 2 || mixture.means.size(1) != 2)
    input_error("grid_divergence: {} must be a mixture in the plane, its means are {}", name,
                describe(mixture.means.sizes()));
  const auto w = mixture.weights.accessor<double, 1>();
  const auto mu = mixture.means.accessor<double, 2>();
  const auto S = mixture.covariances.accessor<double, 3>();
  std::vector<Plane> result;
  for (int64_t j = 0; j < w.size(0); ++j) {
    const double det = S[j][0][0] * S[j][1][1] - S[j][0][1] * S[j][1][0];
    if (!(det > 0)) input_error("grid_divergence: covariance {} of {} is not positive definite", j, name);
    if (w[j] <= 0) continue;
    result.push_back({std::log(w[j]) - std::log(2 * M_PI) - std::log(det) / 2, mu[j][0], mu[j][1], S[j][1][1] / det,
                      -S[j][0][1] / det, S[j][0][0] / det});
  }
  return result;
}

struct LogDensity {
  double value, gx, gy;
};

/// log density and its gradient by log-sum-exp; a component below the largest by exp(-40) does not count.
LogDensity log_density(const std::vector<Plane>& components, double x, double y) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0, gx = 0, gy = 0;
  for (const auto& c : components) {
    const double dx = x - c.mx, dy = y - c.my;
    const double ax = c.pxx * dx + c.pxy * dy, ay = c.pxy * dx + c.pyy * dy;
    const double log_term = c.log_scale - (dx * ax + dy * ay) / 2;
    if (log_term > largest) {
      const double rescale = largest - log_term > -40 ? std::exp(largest - log_term) : 0;
      sum = sum * rescale + 1, gx = gx * rescale - ax, gy = gy * rescale - ay;
      largest = log_term;
    } else if (log_term - largest > -40) {
      const double term = std::exp(log_term - largest);
      sum += term, gx -= term * ax, gy -= term * ay;
    }
  }
  return {sum == 1 ? largest : largest + std::log(sum), gx / sum, gy / sum};
}

/// The cells of one row where some component's quadratic is within the cutoff, as sorted disjoint intervals.
std::vector<std::pair<int64_t, int64_t>> covered(const std::vector<Plane>& nu, double y, double x_low, double width,
                                                 const Grid& grid) {
  std::vector<std::pair<int64_t, int64_t>> intervals;
  for (const auto& c : nu) {
    const double dy = y - c.my, half = c.pxy * dy / c.pxx;
    const double discriminant = half * half - (c.pyy * dy * dy - grid.cutoff) / c.pxx;
    if (discriminant < 0) continue;
    const double centre = c.mx - half, reach = std::sqrt(discriminant);
    const auto cell = [&](double x) {
      return static_cast<int64_t>(std::clamp((x - x_low) / width, 0.0, static_cast<double>(grid.columns)));
    };
    intervals.emplace_back(cell(centre - reach), std::min(cell(centre + reach) + 1, grid.columns));
  }
  std::sort(intervals.begin(), intervals.end());
  int64_t done = 0;
  for (auto& [begin, end] : intervals) {
    begin = std::max(begin, done);
    end = std::max(begin, end);
    done = end;
  }
  return intervals;
}

GridDivergence row_sum(const std::vector<Plane>& nu, const std::vector<Plane>& pi, double y, const Grid& grid) {
  const double width = (grid.x_high - grid.x_low) / static_cast<double>(grid.columns);
  GridDivergence row;
  for (const auto& [begin, end] : covered(nu, y, grid.x_low, width, grid))
    for (int64_t i = begin; i < end; ++i) {
      const double x = grid.x_low + (static_cast<double>(i) + 0.5) * width;
      const auto p = log_density(nu, x, y), q = log_density(pi, x, y);
      const double density = std::exp(p.value), dx = p.gx - q.gx, dy = p.gy - q.gy;
      row.mass += density;
      row.kl += density * (p.value - q.value);
      row.fisher_information += density * (dx * dx + dy * dy);
    }
  return row;
}

}  // namespace

GridDivergence grid_divergence(const Mixture& nu, const Mixture& pi, const Grid& grid) {
  const auto nu_planes = planes(nu, "nu"), pi_planes = planes(pi, "pi");
  const double height = (grid.y_high - grid.y_low) / static_cast<double>(grid.rows);
  const double width = (grid.x_high - grid.x_low) / static_cast<double>(grid.columns);
  // Row sums first, then one ordered sum: the same bits for any number of threads.
  std::vector<GridDivergence> rows(grid.rows);
  at::parallel_for(0, grid.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      rows[r] = row_sum(nu_planes, pi_planes, grid.y_low + (static_cast<double>(r) + 0.5) * height, grid);
  });
  GridDivergence total;
  for (const auto& row : rows) {
    total.mass += row.mass * width * height;
    total.kl += row.kl * width * height;
    total.fisher_information += row.fisher_information * width * height;
  }
  return total;
}

}  // namespace penumbra::theory
