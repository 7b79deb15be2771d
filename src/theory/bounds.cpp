#include "theory/bounds.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace penumbra::theory {
namespace {

constexpr double sqrt_2 = 1.4142135623730951;
constexpr double theorem_limit = sqrt_2 / 8;  // 1 / sqrt(32)

/// alpha_k L_sigma_k, the Lipschitz constant of the prior's part of the drift.
double stiffness(const IterationConstants& iteration) { return iteration.annealing.alpha * iteration.L_sigma; }

/// Factor of the squared errors: the square of a sum of m terms is at most m times the sum of squares; 12 m.
double split_factor(Theorem theorem) {
  switch (theorem) {
    case Theorem::t1:
      return 24;
    case Theorem::t2:
      return 36;
    case Theorem::t3:
      return 36;
    case Theorem::t4:
      return 48;  // T4 prints D_2 eps^2 for D_3 eps^2 (errata E8)
  }
  return 0;
}

std::optional<double> operator*(double factor, std::optional<double> value) {
  if (!value) return std::nullopt;
  return factor * *value;
}

std::optional<double> squared(std::optional<double> value) {
  if (!value) return std::nullopt;
  return *value * *value;
}

/// 24 n L^2 gamma, and for PnP the score point: 7 L_sigma R_g^2 gamma (T2), 9 L_sigma_max R_g^2 gamma (T4).
std::optional<double> discretisation_term(const BoundInputs& in) {
  const double L = largest_lipschitz(in);
  const double ours = 24 * static_cast<double>(in.n) * L * L * in.gamma;
  if (discretization_of(in.theorem) == Discretization::red) return ours;
  if (!in.R_g) return std::nullopt;
  double L_sigma = 0;
  for (const auto& iteration : in.iterations) L_sigma = std::max(L_sigma, iteration.L_sigma);
  return ours + (in.theorem == Theorem::t2 ? 7 : 9) * L_sigma * *in.R_g * *in.R_g * in.gamma;
}

std::optional<double> mean_squared_eps(const BoundInputs& in) {
  double sum = 0;  // the mean of eps^2, not the square of the mean (errata E9)
  for (const auto& iteration : in.iterations) {
    if (!iteration.eps) return std::nullopt;
    sum += *iteration.eps * *iteration.eps;
  }
  return sum / static_cast<double>(in.iterations.size());
}

}  // namespace

Theorem theorem_of(Discretization discretization, bool annealed) {
  if (discretization == Discretization::red) return annealed ? Theorem::t3 : Theorem::t1;
  return annealed ? Theorem::t4 : Theorem::t2;
}

Discretization discretization_of(Theorem theorem) {
  return theorem == Theorem::t1 || theorem == Theorem::t3 ? Discretization::red : Discretization::pnp;
}

bool is_annealed(Theorem theorem) { return theorem == Theorem::t3 || theorem == Theorem::t4; }

std::string name_of(Theorem theorem) { return fmt::format("T{}", static_cast<int>(theorem)); }

double Bound::sum() const {
  double total = 0;
  for (const auto& term : {initial, annealing, discretisation, mismatch, approximation}) total += term.value_or(0);
  return total;
}

double largest_lipschitz(const BoundInputs& in) {
  const bool pnp = discretization_of(in.theorem) == Discretization::pnp;
  double largest = in.L_p;
  for (const auto& iteration : in.iterations)
    largest = std::max(largest, stiffness(iteration) * (pnp ? 1 + in.gamma * in.L_g : 1));
  return in.L_g + largest;
}

Bound bound(const BoundInputs& in) {
  if (in.iterations.empty()) input_error("bound: expected at least one iteration");
  const auto N = static_cast<double>(in.iterations.size());
  const double factor = split_factor(in.theorem);
  double excess = 0, sigma2 = 0;
  for (const auto& [annealing, L_sigma, eps] : in.iterations) {
    excess += (annealing.alpha - 1) * (annealing.alpha - 1) / N;
    sigma2 += annealing.sigma * annealing.sigma / N;
  }
  Bound result;
  result.initial = 4 / (N * in.gamma) * in.KL0;
  result.annealing = excess == 0 ? 0.0 : factor * excess * squared(in.R_s);
  result.discretisation = discretisation_term(in);
  result.mismatch = sigma2 == 0 ? 0.0 : factor * sigma2 * squared(in.C);
  result.approximation = factor * mean_squared_eps(in);
  return result;
}

double admissible_step(const BoundInputs& in) {
  const bool pnp = discretization_of(in.theorem) == Discretization::pnp;
  double step = theorem_limit / (in.L_g + in.L_p);
  for (const auto& iteration : in.iterations) {
    const double a = stiffness(iteration), sum = in.L_g + a;
    // The quadratic's root, written so that it also holds for L_g a = 0.
    const double root = sqrt_2 / 4 / (std::sqrt(sum * sum + sqrt_2 / 2 * in.L_g * a) + sum);
    step = std::min(step, pnp ? root : theorem_limit / sum);
  }
  return step;
}

double stability_limit(const BoundInputs& in, size_t from) {
  double a = 0;
  for (size_t k = from; k < in.iterations.size(); ++k) a = std::max(a, stiffness(in.iterations[k]));
  return discretization_of(in.theorem) == Discretization::red ? 2 / (in.L_g + a) : std::min(2 / in.L_g, 2 / a);
}

}  // namespace penumbra::theory
