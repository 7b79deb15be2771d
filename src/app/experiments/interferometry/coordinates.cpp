#include "app/experiments/interferometry/coordinates.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra::app::interferometry {
namespace {

constexpr double join = 0.05;  // s: a twentieth of the way from the middle to a mode, about half a prior SD

/// The product's own terms of V = V_0 + B u: the matrix of the coordinates has a few hundred columns where the image
/// has thousands of pixels.
class CoordinateLikelihood final : public Likelihood {
 public:
  CoordinateLikelihood(const SkyData& data, const Tensor& middle, const Tensor& columns)
      : Likelihood({1, 1, columns.size(1)}) {
    const auto& options = data.options;
    const auto A = options.jy_per_unit * vlbi::dft_matrix(data.observation, options.grid);
    B_ = A.mm(columns), offset_ = A.mv(middle).unsqueeze(1);
    flux_ = options.jy_per_unit * columns.sum(0), flux_offset_ = options.jy_per_unit * middle.sum();
    const auto rows = static_cast<int64_t>(data.observation.visibilities.size());
    const Placement exact{at::kDouble, at::kCPU};
    const auto precision = [&, sds = sds_of(data.observation)](const auto& closures) {
      return ClosurePrecision::diagonal(closure_variances(closures, sds, exact));
    };
    const auto& [phases, amplitudes] = data.closures;
    if (options.closure_phase > 0)
      terms_.push_back(closure_phase_term(phases, precision(phases), options.phase_law, rows, exact));
    if (options.log_closure_amplitude > 0)
      terms_.push_back(log_closure_amplitude_term(amplitudes, precision(amplitudes), rows, exact));
    if (options.flux) terms_.push_back(flux_term(options.flux->value, options.flux->sd));
  }

  std::vector<Misfit> misfit(const Tensor& u) const override {
    std::vector<Misfit> misfits;
    const auto V = model(u);
    for (const auto& term : terms_)
      misfits.push_back(
          {term->name(), 2 * term->energy(V) / static_cast<double>(term->data_count()), term->data_count()});
    return misfits;
  }
  Tensor simulate(const Tensor&, const Cursor&) const override {
    input_error("coordinates of two modes: no measurement can be simulated from them");
  }

 private:
  ModelVisibilities model(const Tensor& u) const {
    return {offset_ + B_.mm(flat(u).t()), flux_offset_ + flat(u).mv(flux_), softening};
  }
  Tensor do_value(const Tensor& u) const override {
    const auto V = model(u);
    auto sum = at::zeros({u.size(0)}, u.options());
    for (const auto& term : terms_) sum = sum + term->energy(V);
    return sum;
  }
  Tensor do_grad(const Tensor& u) const override {
    const auto V = model(u);
    Pull pull;
    for (const auto& term : terms_) term->add_pull(V, 1, pull);
    auto grad = pull.on(V).t().mm(B_);
    if (pull.flux.defined()) grad = grad + at::outer(pull.flux, flux_);
    return grad.view_as(u);
  }

  static constexpr double softening = 1e-16;  // Jy^2, of sources of about 1 Jy
  Tensor B_, offset_;                         ///< [2 m, dimension], [2 m, 1]
  Tensor flux_, flux_offset_;
  std::vector<TermPointer> terms_;
};

/// Visibilities and the flux of an image of x in units of their SDs, [2 m + 1, n].
Tensor signal(const SkyData& data) {
  const auto& options = data.options;
  auto A = options.jy_per_unit * vlbi::dft_matrix(data.observation, options.grid);
  const auto m = A.size(0) / 2;
  for (int64_t k = 0; k < m; ++k)
    for (const auto row : {k, m + k}) A[row] /= data.observation.visibilities[static_cast<size_t>(k)].sd;
  if (!options.flux) return A;
  return at::cat({A, at::full({1, A.size(1)}, options.jy_per_unit / options.flux->sd, at::kDouble)});
}

/// An orthonormal basis of the directions of xi that move any datum by more than `unseen` SDs, [xi, kept]: the law of
/// the others is the prior's, whatever the data, and does not touch the odds.
Tensor seen_directions(const Tensor& response) {
  constexpr double unseen = 0.01;
  const auto [values, vectors] = at::linalg_eigh(response.t().mm(response));
  return vectors.index_select(1, values.gt(unseen * unseen).nonzero().squeeze(1));
}

}  // namespace

Tensor TwoModeCoordinates::side_of(const Tensor& u) const { return flat(u).select(1, dimension() - 1) / separation; }

TwoModeCoordinates two_mode_coordinates(const TwoModePrior& prior, const SkyData& data, int64_t image_side) {
  TwoModeCoordinates c;
  c.prior = prior;
  const auto half = 0.5 * (prior.mean - prior.turned);
  c.middle = 0.5 * (prior.mean + prior.turned);
  // Every column of F is even or odd under the turn: the prior's covariance is even, and its eigenvalues differ.
  const auto& F = prior.factor;
  const auto turned = F.view({image_side, image_side, -1}).flip({0, 1}).reshape_as(F);
  const auto even = (turned * F).sum(0).gt(0);
  const auto seen = signal(data);
  std::vector<Tensor> columns, signs;
  for (const bool sign : {true, false}) {
    const auto own = F.index_select(1, (even == sign).nonzero().squeeze(1));
    columns.push_back(own.mm(seen_directions(seen.mm(own))));
    signs.push_back(at::full({columns.back().size(1)}, sign ? 1.0 : -1.0, at::kDouble));
  }
  columns.push_back(join * half.unsqueeze(1)), signs.push_back(-at::ones({1}, at::kDouble));
  c.columns = at::cat(columns, 1), c.signs = at::cat(signs);
  c.separation = 1 / join;
  const auto mean = at::zeros({c.dimension()}, at::kDouble);
  mean[c.dimension() - 1] = c.separation;
  const auto unit = Covariance::diagonal(at::ones_like(mean));
  auto part = data;
  part.options.closure_phase = 0;
  c.even = std::make_shared<CoordinateLikelihood>(part, c.middle, c.columns);
  part.options = data.options;
  part.options.log_closure_amplitude = 0, part.options.flux = std::nullopt;
  if (data.options.closure_phase > 0) c.phases = std::make_shared<CoordinateLikelihood>(part, c.middle, c.columns);
  c.posterior = {std::make_shared<CoordinateLikelihood>(data, c.middle, c.columns),
                 std::make_shared<GaussianMixture>(Shape{1, 1, c.dimension()},
                                                   std::vector<Component>{{1, mean, unit}, {1, -mean, unit}})};
  return c;
}

}  // namespace penumbra::app::interferometry
