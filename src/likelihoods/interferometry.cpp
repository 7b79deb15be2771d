#include "likelihoods/interferometry.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/error.h"

namespace penumbra {
namespace {

std::string called(const vlbi::Observation& observation) {
  return observation.name.empty() ? "interferometry" : observation.name;
}

vlbi::Observation checked(vlbi::Observation observation) {
  const auto name = called(observation);
  if (observation.visibilities.empty()) input_error("{}: expected visibilities, found none", name);
  for (size_t k = 0; k < observation.visibilities.size(); ++k) {
    const auto& row = observation.visibilities[k];
    if (!std::isfinite(row.u) || !std::isfinite(row.v) || !std::isfinite(std::abs(row.value)))
      input_error("{}: visibility {}: expected finite u, v and value, found {:g}, {:g}, {:g}{:+g}i", name, k, row.u,
                  row.v, row.value.real(), row.value.imag());
    if (!(row.sd > 0) || !std::isfinite(row.sd))
      input_error("{}: visibility {}: expected a finite sd > 0, found {:g}", name, k, row.sd);
  }
  return observation;
}

/// A term without closures is an error that says which terms these data do have.
void require_closures(const vlbi::Observation& observation, const vlbi::Closures& closures,
                      const InterferometryOptions& options) {
  struct Kind {
    const char* term;
    int stations;
    double weight;
    bool formed;
  };
  const Kind phase{"closure_phase", 3, options.closure_phase, !closures.phases.empty()};
  const Kind amplitude{"log_closure_amplitude", 4, options.log_closure_amplitude, !closures.amplitudes.empty()};
  for (const auto& [wanted, other] : {std::pair(phase, amplitude), std::pair(amplitude, phase)}) {
    if (wanted.weight <= 0 || wanted.formed) continue;
    const auto advice = other.formed
                            ? fmt::format("the term can be left out (terms: {{{}: 1}})", other.term)
                            : std::string("without closures there is terms.amplitude, for gains that are calibrated");
    input_error("{}: terms.{}: expected baselines that close at one time ({} stations), found none; {}",
                called(observation), wanted.term, wanted.stations, advice);
  }
}

template <size_t legs>
ClosurePrecision precision_of(const std::vector<vlbi::Closure<legs>>& closures, const std::vector<double>& sds,
                              ClosureErrors errors, const Placement& placement) {
  return errors == ClosureErrors::covariance ? ClosurePrecision::correlated(closures, sds, placement)
                                             : ClosurePrecision::diagonal(closure_variances(closures, sds, placement));
}

/// East and north of every pixel's middle, radians, [pixels, 2]; row 0 is north, column 0 east.
Tensor directions(const vlbi::PixelGrid& grid) {
  const auto away = [&](int64_t count) {
    return grid.pixel * (static_cast<double>(count - 1) / 2 - at::arange(count, at::kDouble));
  };
  const auto east = away(grid.width).unsqueeze(0).expand({grid.height, grid.width});
  const auto north = away(grid.height).unsqueeze(1).expand({grid.height, grid.width});
  return at::stack({east.flatten(), north.flatten()}, 1);
}

/// Far below the noise of float32 in a sum of pixels, so that no datum feels it.
double softening(const vlbi::Observation& observation) {
  constexpr double share = 1e-8;
  double largest = 0;
  for (const auto& row : observation.visibilities) largest = std::max(largest, std::abs(row.value) + row.sd);
  return std::pow(share * largest, 2);
}

}  // namespace

InterferometryLikelihood::InterferometryLikelihood(Shape image_shape, vlbi::Observation observation,
                                                   const vlbi::Closures& closures, const InterferometryOptions& options,
                                                   const Placement& placement,
                                                   std::optional<InterferometryRecipe> recipe)
    : Likelihood(std::move(image_shape)),
      observation_(checked(std::move(observation))),
      closures_(closures),
      options_(options),
      recipe_(std::move(recipe)),
      placement_(placement),
      jy_per_unit_(options.jy_per_unit),
      black_(options.black),
      softening_(softening(observation_)),
      A_(observation_, options.grid, options.jy_per_unit, placement) {
  if (this->image_shape() != Shape{1, options.grid.height, options.grid.width})
    input_error("interferometry: expected images of one channel, {}x{}, found {}", options.grid.height,
                options.grid.width, describe(this->image_shape()));
  for (const auto& row : observation_.visibilities) {
    const double raw = std::abs(row.value);
    amplitudes_.push_back(options.debias_amplitudes ? vlbi::debiased(raw, row.sd, 0) : raw);
  }
  make_terms();
}

InterferometryLikelihood::InterferometryLikelihood(const InterferometryLikelihood& quiet, const MoreNoise& more)
    : Likelihood(quiet.image_shape()),
      observation_(quiet.observation_),
      closures_(quiet.closures_),
      amplitudes_(quiet.amplitudes_),
      options_(quiet.options_),
      placement_(quiet.placement_),
      jy_per_unit_(quiet.jy_per_unit_),
      black_(quiet.black_),
      softening_(quiet.softening_),
      A_(quiet.A_) {
  for (const auto& [weight, term, in_kernel] : quiet.terms_) terms_.push_back({weight, term->with(more), in_kernel});
  if (quiet.kernel_) kernel_ = quiet.kernel_->with(more);
  if (quiet.moments_.defined()) moments_ = quiet.moments_ / more.factor.sqrt();
}

std::shared_ptr<const Likelihood> InterferometryLikelihood::noisier(const Tensor& alpha) const {
  double least = observation_.visibilities.front().sd;
  for (const auto& row : observation_.visibilities) least = std::min(least, row.sd);
  return std::shared_ptr<const Likelihood>(new InterferometryLikelihood(*this, {(alpha - 1) * (least * least), alpha}));
}

void InterferometryLikelihood::make_terms() {
  const auto& [closures, options, placement] = std::tie(closures_, options_, placement_);
  const auto rows = A_.rows();
  const auto sds = sds_of(observation_);
  require_closures(observation_, closures, options);
  if (options.errors == ClosureErrors::diagonal && options.phase_law == PhaseLaw::cosine)
    kernel_ =
        cuda_closures(closures, sds, {options.closure_phase, options.log_closure_amplitude, softening_}, placement);
  const auto add = [this](double weight, TermPointer term, bool in_kernel = false) {
    terms_.push_back({weight, std::move(term), in_kernel});
  };
  if (options.closure_phase > 0) {
    auto precision = precision_of(closures.phases, sds, options.errors, placement);
    add(options.closure_phase,
        closure_phase_term(closures.phases, std::move(precision), options.phase_law, rows, placement),
        kernel_ != nullptr);
  }
  if (options.log_closure_amplitude > 0) {
    auto precision = precision_of(closures.amplitudes, sds, options.errors, placement);
    add(options.log_closure_amplitude,
        log_closure_amplitude_term(closures.amplitudes, std::move(precision), rows, placement), kernel_ != nullptr);
  }
  if (options.amplitude > 0) add(options.amplitude, amplitude_term(observation_, amplitudes_, placement));
  if (options.visibility > 0) add(options.visibility, visibility_term(observation_, placement));
  if (options.flux) add(options.flux->weight, flux_term(options.flux->value, options.flux->sd));
  if (options.position) {
    const auto& [weight, sd, total] = *options.position;
    const double unit = options.jy_per_unit * std::sqrt(weight) / (sd * total);
    moments_ = place(unit * directions(options.grid), placement);
  }
  if (terms_.empty()) input_error("interferometry: terms: expected at least one with a weight > 0, found none");
}

ModelVisibilities InterferometryLikelihood::visibilities(const Tensor& x) const {
  const auto pixels = flat(x);
  auto V = A_.apply(pixels);
  if (black_ != 0) V = V - black_ * A_.of_ones();
  return model(V, jy_per_unit_ * (black_ != 0 ? pixels - black_ : pixels).sum(1));
}

ModelVisibilities InterferometryLikelihood::model(const Tensor& V, Tensor flux) const {
  ModelVisibilities model(V, std::move(flux), softening_);
  if (kernel_) model.closures = (*kernel_)(V);
  return model;
}

Tensor InterferometryLikelihood::measured() const {
  std::vector<double> parts;
  for (const auto& row : observation_.visibilities) parts.push_back(row.value.real());
  for (const auto& row : observation_.visibilities) parts.push_back(row.value.imag());
  return at::tensor(parts, A_.of_ones().options()).unsqueeze(1);
}

std::optional<double> InterferometryLikelihood::typical_curvature() const {
  constexpr int steps = 30;       // the largest eigenvalue to a few percent; it sets the order of a step
  constexpr double small = 1e-3;  // of |V|: a difference well above rounding and below the curve of g
  const auto V = measured();
  Shape shape = image_shape();
  shape.insert(shape.begin(), 1);
  auto d = normal({}, Stream::probe, at::empty(shape, V.options()));
  double curvature = 0;
  for (int step = 0; step < steps; ++step) {
    d = d / d.norm();
    const auto dV = A_.apply(flat(d));
    const auto flux = jy_per_unit_ * flat(d).sum(1);
    const double e = small * (V.square().sum() / dV.square().sum()).sqrt().item<double>();
    const auto gradient = [&](double sign) { return grad_at(model(V + sign * e * dV, sign * e * flux), d); };
    d = (gradient(1) - gradient(-1)) / (2 * e);
    curvature = d.norm().item<double>();
  }
  return curvature;
}

Tensor InterferometryLikelihood::value_at(const ModelVisibilities& V, const Tensor& x) const {
  Tensor g;
  if (V.closures) g = V.closures->energy;
  for (const auto& [weight, term, in_kernel] : terms_) {
    if (in_kernel) continue;
    const auto more = weight * term->energy(V);
    g = g.defined() ? g + more : more;
  }
  return moments_.defined() ? g + 0.5 * off_centre(x).square().sum(1) : g;
}

Tensor InterferometryLikelihood::grad_at(const ModelVisibilities& V, const Tensor& x) const {
  Pull pull;
  for (const auto& [weight, term, in_kernel] : terms_)
    if (!in_kernel) term->add_pull(V, weight, pull);
  auto w = pull.on(V);
  if (V.closures) w = w.defined() ? w + V.closures->pull : V.closures->pull;
  auto grad = w.defined() ? A_.transposed(w) : at::zeros_like(flat(x));
  if (pull.flux.defined()) grad.add_((jy_per_unit_ * pull.flux).unsqueeze(1));
  if (moments_.defined()) {
    const at::NoTF32Guard full_precision;
    grad.add_(off_centre(x).matmul(moments_.t()));
  }
  return grad.view_as(x);
}

Tensor InterferometryLikelihood::off_centre(const Tensor& x) const {
  const at::NoTF32Guard full_precision;
  return (flat(x) - black_).matmul(moments_);
}

Tensor InterferometryLikelihood::do_value(const Tensor& x) const { return value_at(visibilities(x), x); }

Tensor InterferometryLikelihood::do_grad(const Tensor& x) const { return grad_at(visibilities(x), x); }

std::pair<Tensor, Tensor> InterferometryLikelihood::value_and_grad(const Tensor& x) const {
  require_shape(x, image_shape(), "likelihood: image");
  const auto V = visibilities(x);
  return {value_at(V, x), grad_at(V, x)};
}

std::vector<Misfit> InterferometryLikelihood::misfit(const Tensor& x) const {
  require_shape(x, image_shape(), "likelihood: image");
  const auto V = visibilities(x);
  std::vector<Misfit> misfits;
  for (const auto& [weight, term, in_kernel] : terms_)
    misfits.push_back(
        {term->name(), 2 * term->energy(V) / static_cast<double>(term->data_count()), term->data_count()});
  return misfits;
}

Tensor InterferometryLikelihood::model_amplitudes(const Tensor& x) const {
  require_shape(x, image_shape(), "likelihood: image");
  const auto V = visibilities(x);
  return (V.re.square() + V.im.square()).sqrt().t();
}

Tensor InterferometryLikelihood::simulate(const Tensor& x, const Cursor& at) const {
  require_shape(x, image_shape(), "likelihood: image");
  const auto V = visibilities(x);
  const auto clean = at::stack({V.re, V.im}, 2).transpose(0, 1).contiguous();  // [chains, m, 2]
  const auto noise = normal(at, Stream::measurement, clean);
  return at::view_as_complex(
      (clean + at::tensor(sds_of(observation_), clean.options()).unsqueeze(1) * noise).contiguous());
}

std::shared_ptr<const Likelihood> InterferometryLikelihood::with_data(const Tensor& V) const {
  if (!recipe_) input_error("interferometry: expected a likelihood that was made for simulations");
  auto observation = observation_;
  const auto values = V.to(at::kCPU, at::kComplexDouble).contiguous();
  require_shape(values.unsqueeze(0), {static_cast<int64_t>(observation.visibilities.size())}, "interferometry: data");
  const auto* value = values.data_ptr<c10::complex<double>>();
  for (auto& row : observation.visibilities) {
    row.value = {value->real(), value->imag()};
    ++value;
  }
  const auto closures = vlbi::form_closures(observation, recipe_->closures);
  return std::make_shared<InterferometryLikelihood>(image_shape(), std::move(observation), closures, recipe_->options,
                                                    placement_);
}

double visible_flux(const vlbi::Observation& observation) {
  constexpr double shortest = 0.1e9;  // wavelengths
  std::vector<double> amplitudes;
  double largest = 0;
  for (const auto& row : observation.visibilities) {
    largest = std::max(largest, std::abs(row.value));
    if (std::hypot(row.u, row.v) < shortest) amplitudes.push_back(std::abs(row.value));
  }
  if (amplitudes.empty()) return largest;
  const auto middle = amplitudes.begin() + static_cast<std::ptrdiff_t>(amplitudes.size() / 2);
  std::nth_element(amplitudes.begin(), middle, amplitudes.end());
  return *middle;
}

}  // namespace penumbra
