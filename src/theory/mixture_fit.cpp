#include "theory/mixture_fit.h"

#include <ATen/ATen.h>

#include <limits>

#include "core/error.h"
#include "theory/starting_points.h"

namespace penumbra::theory {
namespace {

/// A mixture in plain arrays, with the Cholesky factors of its covariances.
struct Model {
  std::vector<double> weights, means, covariances, roots, log_scale;
};

/// Lower Cholesky factor of a row-major n x n matrix; false if it is not positive definite.
bool cholesky(const double* S, double* R, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double sum = S[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= R[i * n + k] * R[j * n + k];
      if (i == j && !(sum > 0)) return false;
      R[i * n + j] = i == j ? std::sqrt(sum) : sum / R[j * n + j];
    }
  return true;
}

class Expectation {
 public:
  Expectation(const Points& points, const FitOptions& options)
      : points_(points),
        options_(options),
        J_(options.components),
        few_(options.few_points > 0 ? options.few_points : 2.0 * static_cast<double>(points.n + 1)),
        responsibilities_(points.N * J_) {
    const auto [N, n] = std::pair(points.N, points.n);
    std::vector<double> mean(n), variance(n);
    for (int64_t i = 0; i < N; ++i)
      for (int64_t a = 0; a < n; ++a) mean[a] += points.x[i * n + a] / static_cast<double>(N);
    for (int64_t i = 0; i < N; ++i)
      for (int64_t a = 0; a < n; ++a) mean_variance_ += std::pow(points.x[i * n + a] - mean[a], 2);
    mean_variance_ /= static_cast<double>(N * n);
    if (!(mean_variance_ > 0)) input_error("fit_mixture: all {} points are the same", N);
  }

  /// Hard assignment to the nearest centre, then one maximisation.
  Model start(const std::vector<double>& centres) {
    std::fill(responsibilities_.begin(), responsibilities_.end(), 0.0);
    for (int64_t i = 0; i < points_.N; ++i) responsibilities_[i * J_ + nearest(points_, i, centres).first] = 1;
    Model model;
    model.means = centres;
    maximise(model);
    return model;
  }

  /// One iteration; returns the mean log-likelihood of the model that came in.
  double iterate(Model& model) {
    const double log_likelihood = expect(model);
    maximise(model);
    return log_likelihood;
  }

  double expect(const Model& model) {
    const auto [N, n] = std::pair(points_.N, points_.n);
    std::vector<double> solved(n), terms(J_);
    double total = 0;
    for (int64_t i = 0; i < N; ++i) {
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t j = 0; j < J_; ++j) {
        double quadratic = 0;  // |R^-1 (x - mu)|^2 by forward substitution
        const double* R = &model.roots[j * n * n];
        for (int64_t a = 0; a < n; ++a) {
          double v = points_.x[i * n + a] - model.means[j * n + a];
          for (int64_t b = 0; b < a; ++b) v -= R[a * n + b] * solved[b];
          solved[a] = v / R[a * n + a];
          quadratic += solved[a] * solved[a];
        }
        terms[j] = model.log_scale[j] - quadratic / 2;
        largest = std::max(largest, terms[j]);
      }
      double sum = 0;
      for (auto& term : terms) sum += term = std::exp(term - largest);
      for (int64_t j = 0; j < J_; ++j) responsibilities_[i * J_ + j] = terms[j] / sum;
      total += largest + std::log(sum);
    }
    return total / static_cast<double>(N);
  }

 private:
  void maximise(Model& model) {
    const auto [N, n] = std::pair(points_.N, points_.n);
    std::vector<double> counts(J_), pooled(n * n), d(n);
    model.covariances.assign(J_ * n * n, 0);
    for (int64_t j = 0; j < J_; ++j) {
      std::vector<double> mean(n);
      for (int64_t i = 0; i < N; ++i) {
        const double r = responsibilities_[i * J_ + j];
        counts[j] += r;
        for (int64_t a = 0; a < n; ++a) mean[a] += r * points_.x[i * n + a];
      }
      if (counts[j] > 1e-9)  // an empty component stays where it was
        for (int64_t a = 0; a < n; ++a) model.means[j * n + a] = mean[a] / counts[j];
      double* S = &model.covariances[j * n * n];
      for (int64_t i = 0; i < N; ++i) {
        const double r = responsibilities_[i * J_ + j];
        if (r == 0) continue;
        for (int64_t a = 0; a < n; ++a) d[a] = points_.x[i * n + a] - model.means[j * n + a];
        for (int64_t a = 0; a < n; ++a)
          for (int64_t b = 0; b <= a; ++b) S[a * n + b] += r * d[a] * d[b];
      }
      for (int64_t e = 0; e < n * n; ++e) pooled[e] += S[e] / static_cast<double>(N);
    }
    regularise(model, counts, pooled);
  }

  /// Scatter sums -> covariances, factors, weights and scales.
  void regularise(Model& model, const std::vector<double>& counts, const std::vector<double>& pooled) const {
    const auto n = points_.n;
    model.weights.resize(J_), model.log_scale.resize(J_), model.roots.assign(J_ * n * n, 0);
    double total = 0;
    for (int64_t j = 0; j < J_; ++j)
      total += model.weights[j] = std::max(counts[j] / static_cast<double>(points_.N), options_.weight_floor);
    for (int64_t j = 0; j < J_; ++j) {
      model.weights[j] /= total;
      double* S = &model.covariances[j * n * n];
      const double borrowed = std::max(0.0, few_ - counts[j]);
      for (int64_t a = 0; a < n; ++a)
        for (int64_t b = 0; b <= a; ++b) {
          auto& s = S[a * n + b];
          s = (s + borrowed * pooled[a * n + b]) / (counts[j] + borrowed) + (a == b) * options_.ridge * mean_variance_;
          S[b * n + a] = s;
        }
      double* R = &model.roots[j * n * n];
      while (!cholesky(S, R, n))  // the points lie in a subspace: widen it
        for (int64_t a = 0; a < n; ++a) S[a * n + a] += 1e-9 * mean_variance_;
      model.log_scale[j] = std::log(model.weights[j]) - static_cast<double>(n) * std::log(2 * M_PI) / 2;
      for (int64_t a = 0; a < n; ++a) model.log_scale[j] -= std::log(R[a * n + a]);
    }
  }

  const Points& points_;
  const FitOptions& options_;
  int64_t J_;
  double few_, mean_variance_ = 0;
  std::vector<double> responsibilities_;  ///< [N, J]
};

Mixture sorted(const Model& model, int64_t J, int64_t n) {
  const auto make = [](const std::vector<double>& v, at::IntArrayRef shape) {
    return at::tensor(v, at::kDouble).reshape(shape);
  };
  const auto means = make(model.means, {J, n});
  const auto order = means.select(1, 0).argsort();
  return {make(model.weights, {J}).index_select(0, order), means.index_select(0, order),
          make(model.covariances, {J, n, n}).index_select(0, order)};
}

}  // namespace

Fit fit_mixture(const Tensor& points, const FitOptions& options) {
  if (points.dim() != 2 || points.size(0) < options.components || points.size(1) < 1)
    input_error("fit_mixture: expected at least {} points as [N, n], found {}", options.components,
                describe(points.sizes()));
  const auto held = points.detach().to(at::kCPU, at::kDouble).contiguous();
  if (!held.isfinite().all().item<bool>()) input_error("fit_mixture: some of the points are not finite");
  const Points view{held.data_ptr<double>(), held.size(0), held.size(1)};

  Expectation em(view, options);
  Model model;
  double best = -std::numeric_limits<double>::infinity();
  for (const auto& centres : starting_points(view, options.components, options.seed)) {
    auto candidate = em.start(centres);
    for (int i = 0; i < 4; ++i) em.iterate(candidate);
    const double log_likelihood = em.expect(candidate);
    if (log_likelihood > best) best = log_likelihood, model = std::move(candidate);
  }

  Fit fit;
  fit.mean_log_likelihood = -std::numeric_limits<double>::infinity();
  while (fit.iterations < options.max_iterations && !fit.converged) {
    const double log_likelihood = em.iterate(model);
    fit.converged = std::abs(log_likelihood - fit.mean_log_likelihood) < options.tolerance;
    fit.mean_log_likelihood = log_likelihood;
    ++fit.iterations;
  }
  fit.mean_log_likelihood = em.expect(model);
  fit.mixture = sorted(model, options.components, view.n);
  return fit;
}

}  // namespace penumbra::theory
