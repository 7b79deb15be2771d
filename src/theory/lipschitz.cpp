#include "theory/lipschitz.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/random.h"

namespace penumbra::theory {
namespace {

using Map = std::function<Tensor(const Tensor&)>;

Tensor unit(const Tensor& v) { return v / per_chain(norm_per_chain(v).clamp_min(1e-300), v); }

/// Iterates v <- turn(v) / |turn(v)| at every point at once; |product(v)| grows to the norm of the derivative.
struct Products {
  Map product;  ///< J v
  Map turn;     ///< from J v to the next direction: J^T (J v), or J v itself
};

Lipschitz power_iteration(const Products& J, const Tensor& points, const LipschitzOptions& options) {
  Lipschitz result;
  result.converged = false;
  auto v = unit(normal({options.seed, 0, 0}, Stream::probe, points));
  auto norms = at::zeros({points.size(0)}, points.options());
  int quiet = 0;
  while (result.iterations < options.max_iterations && !result.converged) {
    const auto Jv = J.product(v);
    const auto now = norm_per_chain(Jv);
    const double change = ((now - norms).abs() / now.clamp_min(1e-300)).max().item<double>();
    // Two quiet iterations: the first may only say that the start was poor.
    quiet = change <= options.tolerance ? quiet + 1 : 0;
    result.converged = quiet >= 2;
    norms = at::maximum(norms, now);
    v = unit(J.turn(Jv));
    ++result.iterations;
  }
  result.per_point = norms;
  result.direction = v;
  result.value = norms.max().item<double>();
  return result;
}

/// J v = [f(x + h v) - f(x - h v)] / 2h for unit v, h at the cube root of the precision.
Products by_differences(const Map& f, const Tensor& x) {
  const double precision = x.scalar_type() == at::kDouble ? 2.2e-16 : 1.2e-7;
  const auto h = std::cbrt(precision) * per_chain(norm_per_chain(x).clamp_min(1), x);
  const auto product = [=](const Tensor& v) { return (f(x + h * v) - f(x - h * v)) / (2 * h); };
  return {product, [](const Tensor& Jv) { return Jv; }};
}

Tensor gradient(const Tensor& of, const Tensor& with_respect_to, const Tensor& weight, bool keep_differentiable) {
  return torch::autograd::grad({of}, {with_respect_to}, {weight}, /*retain_graph=*/true, keep_differentiable,
                               /*allow_unused=*/true)[0];
}

/// <u, J v> = <J^T u, v> at every point, for a random u and v = J^T u. A backward pass that leaves no graph, such as a
/// kernel of its own, loses its part of J v without a word. 5 %: bfloat16 networks keep it.
bool transposes_agree(const Products& J, const Tensor& x, uint64_t seed) {
  const auto u = unit(normal({seed, 1, 0}, Stream::probe, x));
  const auto v = J.turn(u);
  const auto difference = flat(u * J.product(v) - v * v).sum(1).abs();
  return (difference <= 0.05 * flat(v * v).sum(1)).all().item<bool>();
}

/// Exact products: J^T u is a gradient, and J v the gradient of J^T u, which is linear in u, with respect to u.
std::optional<Products> by_autograd(const Map& f, const Tensor& points, uint64_t seed) {
  const c10::AutoGradMode with_gradients(true);
  const auto x = points.detach().clone().requires_grad_(true);
  const auto y = f(x);
  if (!y.requires_grad()) return std::nullopt;
  const auto u = at::ones_like(y).requires_grad_(true);
  try {
    const auto JTu = gradient(y, x, u, true);
    if (!JTu.defined() || !JTu.requires_grad()) return std::nullopt;
    const Products products{[=](const Tensor& v) { return gradient(JTu, u, v, false); },
                            [=](const Tensor& Jv) { return gradient(y, x, Jv, false); }};
    // Tried once: a network of unknown making may fail only here, and its interpreter throws errors of its own kind.
    if (!transposes_agree(products, x.detach(), seed)) return std::nullopt;
    return products;
  } catch (const std::exception&) {  // an operation without a second derivative
    return std::nullopt;
  }
}

}  // namespace

std::string name_of(Lipschitz::Method method) {
  switch (method) {
    case Lipschitz::Method::formula:
      return "formula";
    case Lipschitz::Method::autograd:
      return "power iteration, exact products";
    case Lipschitz::Method::differences:
      return "power iteration, central differences";
  }
  return "";
}

Lipschitz likelihood_lipschitz(const Likelihood& likelihood, const Tensor& points, const LipschitzOptions& options) {
  Lipschitz result;
  if (const auto known = likelihood.lipschitz()) {
    result.value = *known;
    return result;
  }
  const c10::NoGradGuard no_gradients;
  const auto grad = [&](const Tensor& x) { return likelihood.grad(x); };
  result = power_iteration(by_differences(grad, points), points, options);
  result.method = Lipschitz::Method::differences;
  return result;
}

Tensor stiffest_direction(const Likelihood& likelihood, const Tensor& points, const LipschitzOptions& options) {
  const c10::NoGradGuard no_gradients;
  const auto grad = [&](const Tensor& x) { return likelihood.grad(x); };
  return power_iteration(by_differences(grad, points), points, options).direction;
}

Tensor curvature_along(const Map& gradient, const Tensor& points, const Tensor& v) {
  const c10::NoGradGuard no_gradients;
  return flat(v * by_differences(gradient, points).product(v)).sum(1);
}

Lipschitz score_lipschitz(const Score& score, const Tensor& points, double sigma, const LipschitzOptions& options) {
  const Map S = [&](const Tensor& x) { return score.score(x, sigma); };
  if (const auto exact = by_autograd(S, points, options.seed)) {
    auto result = power_iteration(*exact, points, options);
    result.method = Lipschitz::Method::autograd;
    return result;
  }
  const c10::NoGradGuard no_gradients;
  auto result = power_iteration(by_differences(S, points), points, options);
  result.method = Lipschitz::Method::differences;
  return result;
}

}  // namespace penumbra::theory
