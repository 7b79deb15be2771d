#include "theory/lipschitz.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>

#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "priors/gaussian_mixture.h"
#include "support/numbers.h"

namespace penumbra::theory {
namespace {

using test::noise;

Tensor covariance(uint64_t seed, double floor) {
  const auto F = noise(seed, {4, 4});
  return F.mm(F.t()) + floor * at::eye(4, at::kDouble);
}

GaussianMixture mixture(int64_t components) {
  std::vector<Component> parts;
  for (int64_t j = 0; j < components; ++j)
    parts.push_back(
        {1.0 + static_cast<double>(j), noise(50 + j, {1, 4})[0], Covariance::full(covariance(70 + j, 0.3))});
  return {{1, 1, 4}, parts};
}

/// Norm of the Jacobian of f at one point, column by column.
template <typename Map>
double dense_norm(const Map& f, const Tensor& x) {
  const double h = 1e-5;
  std::vector<Tensor> columns;
  for (int64_t a = 0; a < x.numel(); ++a) {
    auto e = at::zeros_like(x);
    e.flatten()[a] = h;
    columns.push_back((f(x + e) - f(x - e)).flatten() / (2 * h));
  }
  return at::linalg_matrix_norm(at::stack(columns, 1), 2).item<double>();
}

/// A score that is not differentiable by autograd, like one written with its own kernels.
class Opaque final : public Score {
 public:
  explicit Opaque(GaussianMixture inner) : Score(inner.image_shape()), inner_(std::move(inner)) {}

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor&) const override {
    const c10::NoGradGuard no_gradients;
    return inner_.score(x.detach(), sigma);
  }
  GaussianMixture inner_;
};

/// x B with a backward pass that leaves no graph, as raw kernels do.
struct Graphless : torch::autograd::Function<Graphless> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& B) {
    context->save_for_backward({B});
    return x.matmul(B);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const c10::NoGradGuard no_graph;
    return {gradients[0].matmul(context->get_saved_variables()[0].t()), Tensor()};
  }
};

/// S(x) = x B - x with symmetric B: autograd sees only the last term of the second derivative.
class HalfSeen final : public Score {
 public:
  HalfSeen() : Score({1, 1, 4}), B_(covariance(31, 0.5)) {}
  double norm() const { return at::linalg_matrix_norm(B_ - at::eye(4, at::kDouble), 2).item<double>(); }

 private:
  Tensor do_score(const Tensor& x, double, const Cursor&) const override { return Graphless::apply(x, B_) - x; }
  Tensor B_;
};

/// Not a gradient: S(x) = x B^T with B far from symmetric.
class Twisted final : public Score {
 public:
  Twisted() : Score({1, 1, 4}), B_(at::triu(noise(9, {4, 4}))) {}
  double norm() const { return at::linalg_matrix_norm(B_, 2).item<double>(); }

 private:
  Tensor do_score(const Tensor& x, double, const Cursor&) const override { return x.matmul(B_.t()); }
  Tensor B_;
};

/// g(x) = sum of (x_i^2 - 1)^2 / 4: no constant is known, the Hessian is diag(3 x_i^2 - 1).
class DoubleWell final : public Likelihood {
 public:
  DoubleWell() : Likelihood({1, 1, 4}) {}
  std::vector<Misfit> misfit(const Tensor&) const override { return {}; }
  Tensor simulate(const Tensor& x, const Cursor&) const override { return x; }

 private:
  Tensor do_value(const Tensor& x) const override { return flat((x.square() - 1).square()).sum(1) / 4; }
  Tensor do_grad(const Tensor& x) const override { return x * (x.square() - 1); }
};

TEST(Lipschitz, OfAGaussianScoreIsTheInverseOfTheSmallestSmoothedVariance) {
  const auto prior = mixture(1);
  for (const double sigma : {0.0, 0.5, 3.0}) {
    const auto L = score_lipschitz(prior, noise(1, {3, 1, 1, 4}), sigma, {.tolerance = 1e-12});
    const double smallest = prior.components()[0].covariance->smallest_variance();
    EXPECT_NEAR(L.value * (smallest + sigma * sigma), 1, 1e-8);
    EXPECT_EQ(L.method, Lipschitz::Method::autograd);
    EXPECT_TRUE(L.converged);
  }
}

TEST(Lipschitz, OfAMixtureScoreIsTheNormOfTheJacobianPointByPoint) {
  const auto prior = mixture(3);
  const auto points = noise(2, {6, 1, 1, 4});
  const auto L = score_lipschitz(prior, points, 0.4, {.max_iterations = 2000, .tolerance = 1e-13});
  double largest = 0;
  for (int64_t i = 0; i < points.size(0); ++i) {
    const double expected = dense_norm([&](const Tensor& x) { return prior.score(x, 0.4); }, points.narrow(0, i, 1));
    EXPECT_NEAR(L.per_point[i].item<double>() / expected, 1, 1e-6);
    largest = std::max(largest, expected);
  }
  EXPECT_NEAR(L.value / largest, 1, 1e-6);
}

TEST(Lipschitz, OfAScoreWithoutAutogradComesFromDifferences) {
  const auto points = noise(3, {4, 1, 1, 4});
  const LipschitzOptions options{.max_iterations = 2000, .tolerance = 1e-10};
  const auto exact = score_lipschitz(mixture(2), points, 0.3, options);
  const auto opaque = score_lipschitz(Opaque(mixture(2)), points, 0.3, options);
  EXPECT_EQ(opaque.method, Lipschitz::Method::differences);
  EXPECT_LT((opaque.per_point / exact.per_point - 1).abs().max().item<double>(), 1e-5);
}

TEST(Lipschitz, OfAScoreWhoseBackwardPassLeavesNoGraphComesFromDifferences) {
  const HalfSeen score;
  const auto L = score_lipschitz(score, noise(5, {3, 1, 1, 4}), 0.1, {.max_iterations = 2000, .tolerance = 1e-10});
  EXPECT_EQ(L.method, Lipschitz::Method::differences);
  EXPECT_NEAR(L.value / score.norm(), 1, 1e-6);  // a linear map: differences are exact but for rounding
}

TEST(Lipschitz, OfAScoreThatIsNoGradientIsItsNormNotItsSpectralRadius) {
  const Twisted score;
  const auto L = score_lipschitz(score, noise(4, {2, 1, 1, 4}), 0.1, {.max_iterations = 2000, .tolerance = 1e-13});
  EXPECT_NEAR(L.value / score.norm(), 1, 1e-8);
}

TEST(Lipschitz, OfALinearLikelihoodIsItsFormula) {
  const auto A = noise(6, {3, 4});
  const GaussianLikelihood g(std::make_shared<DenseModel>(Shape{1, 1, 4}, A), at::zeros({3}, at::kDouble), 0.2);
  const auto L = likelihood_lipschitz(g, noise(7, {2, 1, 1, 4}));
  EXPECT_EQ(L.method, Lipschitz::Method::formula);
  EXPECT_NEAR(L.value * 0.04 / std::pow(at::linalg_matrix_norm(A, 2).item<double>(), 2), 1, 1e-6);
}

TEST(Lipschitz, OfAnyLikelihoodIsTheNormOfItsHessianAtThePoints) {
  const auto points = noise(8, {5, 1, 1, 4});
  const auto L = likelihood_lipschitz(DoubleWell(), points, {.max_iterations = 2000, .tolerance = 1e-10});
  const auto expected = flat(3 * points.square() - 1).abs().amax(1);
  EXPECT_EQ(L.method, Lipschitz::Method::differences);
  EXPECT_LT((L.per_point / expected - 1).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace penumbra::theory
