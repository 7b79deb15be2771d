#include "priors/gaussian_mixture.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra {

/// For every component: the log of w_j N(x; mu_j, S_j + sigma^2 I), and (S_j + sigma^2 I)^-1 (x - mu_j).
struct GaussianMixture::Solved {
  Tensor log_terms;              ///< [components, chains]: reductions over few components run along the chains
  std::vector<Tensor> whitened;  ///< components of [chains, n]

  /// r_j as a column, [chains, 1] each.
  std::vector<Tensor> responsibilities() const { return log_terms.softmax(0).unsqueeze(2).unbind(0); }
};

GaussianMixture::GaussianMixture(Shape image_shape, std::vector<Component> components)
    : Score(std::move(image_shape)), components_(std::move(components)) {
  if (components_.empty()) input_error("gaussian mixture: expected at least one component");
  const auto n = element_count(this->image_shape());
  double total = 0;
  for (const auto& component : components_) {
    if (component.mean.dim() != 1 || component.mean.size(0) != n || component.covariance->dimension() != n)
      input_error("gaussian mixture: a component has dimension {} (mean) and {} (covariance), the image {}",
                  component.mean.numel(), component.covariance->dimension(), n);
    if (!(component.weight > 0) || !std::isfinite(component.weight))
      input_error("gaussian mixture: expected positive weights, found {}", component.weight);
    if (!component.mean.isfinite().all().item<bool>()) input_error("gaussian mixture: a mean is not finite");
    total += component.weight;
  }
  for (auto& component : components_) component.weight /= total;
}

GaussianMixture::Solved GaussianMixture::solve(const Tensor& x, double sigma) const {
  const auto rows = flat(x);
  Solved solved;
  std::vector<Tensor> log_terms;
  // Components that share a covariance share its costly part, the solution for x.
  std::map<const Covariance*, Tensor> solved_rows;
  std::map<const Covariance*, double> log_dets;
  for (const auto& [weight, mean, covariance] : components_) {
    auto& solved_x = solved_rows[covariance.get()];
    if (!solved_x.defined()) {
      solved_x = covariance->solve(rows, sigma);
      log_dets[covariance.get()] = covariance->log_det(sigma);
    }
    auto whitened = solved_x - covariance->solve(mean.unsqueeze(0), sigma);
    const auto distance = ((rows - mean) * whitened).sum(1);
    const double constant = std::log(weight) - 0.5 * log_dets[covariance.get()] -
                            0.5 * static_cast<double>(dimension()) * std::log(2 * M_PI);
    log_terms.push_back(constant - 0.5 * distance);
    solved.whitened.push_back(std::move(whitened));
  }
  solved.log_terms = at::stack(log_terms);
  return solved;
}

Tensor GaussianMixture::do_score(const Tensor& x, double sigma, const Cursor&) const {
  const auto solved = solve(x, sigma);
  if (components_.size() == 1) return -solved.whitened[0].view_as(x);
  const auto r = solved.responsibilities();
  auto score = -r[0] * solved.whitened[0];
  for (size_t j = 1; j < components_.size(); ++j) score.addcmul_(r[j], solved.whitened[j], -1);
  return score.view_as(x);
}

/// sum_j r_j (mu_j + S_j (S_j + sigma^2 I)^-1 (x - mu_j)): equal to Tweedie's formula, without its cancellation.
Tensor GaussianMixture::do_denoise(const Tensor& x, double sigma, const Cursor&) const {
  if (sigma == 0) return x.clone();
  const auto solved = solve(x, sigma);
  const auto r = solved.responsibilities();
  auto mean = at::zeros_like(flat(x));
  for (size_t j = 0; j < components_.size(); ++j) {
    const auto& [weight, mu, covariance] = components_[j];
    mean = mean + r[j] * (mu + covariance->multiply(solved.whitened[j]));
  }
  return mean.view_as(x);
}

std::optional<Tensor> GaussianMixture::log_density(const Tensor& x, double sigma) const {
  return solve(x, sigma).log_terms.logsumexp(0);
}

Tensor GaussianMixture::responsibilities(const Tensor& x, double sigma) const {
  return solve(x, sigma).log_terms.softmax(0).t();
}

std::optional<Tensor> GaussianMixture::draw(int64_t count, const Cursor& at) const {
  const auto options = components_.front().mean.options();
  const auto z = normal(at, Stream::truth, at::empty({count, dimension()}, options));
  // A chain's component comes from its own number, so that a draw does not depend on how many are drawn.
  const auto u = uniform({at.seed, at.first_chain, at.k + 1}, Stream::truth, at::empty({count, 1}, options));
  auto draws = at::empty_like(z);
  double below = 0;
  for (const auto& [weight, mean, covariance] : components_) {
    // Later components overwrite earlier ones, so that a number rounded up to 1 finds the last.
    draws = at::where(u >= below, mean + covariance->colour(z), draws);
    below += weight;
  }
  Shape shape = image_shape();
  shape.insert(shape.begin(), count);
  return draws.reshape(shape);
}

Tensor GaussianMixture::mean() const {
  auto mean = at::zeros_like(components_.front().mean);
  for (const auto& component : components_) mean = mean + component.weight * component.mean;
  return mean;
}

Tensor GaussianMixture::dense_covariance() const {
  const auto centre = mean();
  auto total = at::zeros({dimension(), dimension()}, centre.options());
  for (const auto& [weight, mu, covariance] : components_)
    total = total + weight * (covariance->dense() + at::outer(mu - centre, mu - centre));
  return total;
}

MixturePosterior condition(const GaussianMixture& prior, const Tensor& A, const Tensor& y, double beta) {
  const auto m = A.size(0);
  std::vector<Component> components;
  std::vector<double> log_weights;
  for (const auto& [weight, mu, covariance] : prior.components()) {
    // E = beta^2 I + A S A^T, K = S A^T E^-1.
    const auto S_At = covariance->multiply(A).t();
    const auto E = beta * beta * at::eye(m, A.options()) + A.matmul(S_At);
    const auto factor = at::linalg_cholesky(E);
    const auto residual = (y - A.matmul(mu)).unsqueeze(1);
    const auto solved = at::cholesky_solve(residual, factor);
    const double log_det = 2 * factor.diagonal().log().sum().item<double>();
    log_weights.push_back(std::log(weight) - 0.5 * ((residual * solved).sum().item<double>() + log_det +
                                                    static_cast<double>(m) * std::log(2 * M_PI)));
    const auto cov = covariance->dense() - S_At.matmul(at::cholesky_solve(S_At.t().contiguous(), factor));
    components.push_back({1, mu + S_At.matmul(solved).squeeze(1), Covariance::full(0.5 * (cov + cov.t()))});
  }
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  double sum = 0;
  for (size_t j = 0; j < components.size(); ++j) {
    // A weight below the smallest number still belongs to a component.
    components[j].weight = std::max(std::exp(log_weights[j] - largest), std::numeric_limits<double>::min());
    sum += std::exp(log_weights[j] - largest);
  }
  return {std::make_shared<GaussianMixture>(prior.image_shape(), std::move(components)), largest + std::log(sum)};
}

}  // namespace penumbra
