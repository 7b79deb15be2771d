/// Theorems 1-4: how far the chains' law is from the posterior, as a bound on the time-averaged Fisher information
///   (1 / N gamma) int_0^{N gamma} FI(nu_t || pi) dt
///     <= [4 KL(nu_0 || pi) + gamma zeta] / (N gamma) + discretisation + score mismatch + approximation.
///
/// An upper bound, not a rate (errata E12), and its Assumptions 4-6 are false for analytic priors and Gaussian data
/// (E13): C, R_g and R_s are therefore read as suprema over t of L2(nu_t) norms, which is all that the proofs use.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "samplers/sampler.h"
#include "samplers/schedule.h"

namespace penumbra::theory {

/// T1 PMC-RED, T2 PMC-PnP, T3 APMC-RED, T4 APMC-PnP.
enum class Theorem { t1 = 1, t2, t3, t4 };

Theorem theorem_of(Discretization discretization, bool annealed);
Discretization discretization_of(Theorem theorem);
bool is_annealed(Theorem theorem);
std::string name_of(Theorem theorem);  ///< "T3"

/// What the theorems need to know of iteration k.
struct IterationConstants {
  Annealing annealing;
  double L_sigma = 0;            ///< Lipschitz constant of S(., sigma_k), Assumption 3(a)
  std::optional<double> eps{0};  ///< bound on the score's error, Assumption 3(b); nothing where it is unknown
};

struct BoundInputs {
  Theorem theorem = Theorem::t1;
  int64_t n = 0;  ///< unknowns
  double gamma = 0;
  double L_g = 0;  ///< Lipschitz constant of grad g, Assumption 1
  double L_p = 0;  ///< Lipschitz constant of grad log p, Assumption 2
  std::vector<IterationConstants> iterations{};
  std::optional<double> KL0{};  ///< KL(nu_0 || pi)
  std::optional<double> C{};    ///< |grad log p_sigma - grad log p| <= sigma C, Assumption 4
  std::optional<double> R_g{};  ///< |grad g|, Assumption 5
  std::optional<double> R_s{};  ///< |S|, Assumption 6
};

/// The right-hand side term by term; a term is missing where one of its constants is unknown.
struct Bound {
  std::optional<double> initial;         ///< 4 KL_0 / (N gamma)
  std::optional<double> annealing;       ///< zeta / N; 0 for T1 and T2
  std::optional<double> discretisation;  ///< A_1 gamma (B_1, C_1, D_1)
  std::optional<double> mismatch;        ///< A_2 sigma^2
  std::optional<double> approximation;   ///< A_3 eps^2

  bool complete() const { return initial && annealing && discretisation && mismatch && approximation; }
  /// The sum of the terms that are known: a bound only if complete().
  double sum() const;
};

Bound bound(const BoundInputs& inputs);

/// L = sup_k L_k, with L_k = L_g + max(alpha_k L_sigma_k, L_p) for RED and
/// L_k = L_g + max(alpha_k L_sigma_k (1 + gamma L_g), L_p) for PnP.
double largest_lipschitz(const BoundInputs& inputs);

/// The largest gamma with gamma L <= 1 / sqrt(32). For PnP, where L contains gamma, the root of the quadratic that
/// errata E7 and E11 correct: [sqrt((L_g + a)^2 + (sqrt(2)/2) L_g a) - (L_g + a)] / (2 L_g a), a = alpha_k L_sigma_k.
double admissible_step(const BoundInputs& inputs);

/// Above this step the iterates of a Gaussian problem with these constants can grow without bound.
/// RED: 2 / (L_g + a), sharp where the stiffest directions of data and prior agree. PnP: min(2 / L_g, 2 / a), which
/// suffices because the step is a product of two contractions. `from` leaves out the first iterations.
double stability_limit(const BoundInputs& inputs, size_t from = 0);

}  // namespace penumbra::theory
