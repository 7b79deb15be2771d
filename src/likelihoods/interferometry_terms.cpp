#include "likelihoods/interferometry_terms.h"

#include <ATen/ATen.h>

#include <numbers>

namespace penumbra {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

void add(Tensor& sum, const Tensor& more) { sum = sum.defined() ? sum + more : more; }

/// One number for each element of a list, [n, 1].
template <typename List, typename Number>
Tensor column(const List& list, Number number, const Placement& placement) {
  std::vector<double> values;
  for (const auto& element : list) values.push_back(number(element));
  return place(at::tensor(values, at::kDouble).unsqueeze(1), placement);
}

template <typename List>
Tensor values_of(const List& closures, const Placement& placement) {
  return column(
      closures, [](const auto& closure) { return closure.value; }, placement);
}

Tensor variances(const vlbi::Observation& observation, const Placement& placement) {
  return column(
      observation.visibilities, [](const auto& row) { return row.sd * row.sd; }, placement);
}

class ClosurePhaseTerm final : public InterferometryTerm {
 public:
  ClosurePhaseTerm(const std::vector<vlbi::ClosurePhase>& data, ClosurePrecision precision, PhaseLaw law, int64_t rows,
                   const Placement& placement)
      : InterferometryTerm("closure_phase", static_cast<int64_t>(data.size())),
        sums_(data, rows, placement),
        y_(values_of(data, placement)),
        precision_(std::move(precision)),
        law_(law) {}

  Tensor energy(const ModelVisibilities& V) const override {
    const auto d = difference(V);
    if (law_ == PhaseLaw::wrapped_square) return 0.5 * precision_.squared(d);
    const auto away = 2 * (0.5 * d).sin().square();  // 1 - cos d, without its cancellation
    if (precision_.is_diagonal()) return precision_.times(away).sum(0);
    return 0.5 * (precision_.squared(d.sin()) + precision_.squared(away));
  }

  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    add(pull.phase, sums_.over_closures(weight * slope(difference(V))));
  }

  TermPointer with(const MoreNoise& more) const override {
    auto noisier = std::make_unique<ClosurePhaseTerm>(*this);
    noisier->precision_ = precision_.with(more);
    return noisier;
  }

 private:
  /// In (-pi, pi] where the law needs it.
  Tensor difference(const ModelVisibilities& V) const {
    const auto d = sums_.over_legs(at::atan2(V.im, V.re)) - y_;
    return law_ == PhaseLaw::wrapped_square ? d - two_pi * (d / two_pi).round() : d;
  }
  Tensor slope(const Tensor& d) const {
    if (law_ == PhaseLaw::wrapped_square) return precision_.times(d);
    const auto sine = d.sin();
    if (precision_.is_diagonal()) return precision_.times(sine);
    const auto cosine = d.cos();
    return cosine * precision_.times(sine) + sine * precision_.times(1 - cosine);
  }

  ClosureSums sums_;
  Tensor y_;
  ClosurePrecision precision_;
  PhaseLaw law_;
};

class LogClosureAmplitudeTerm final : public InterferometryTerm {
 public:
  LogClosureAmplitudeTerm(const std::vector<vlbi::LogClosureAmplitude>& data, ClosurePrecision precision, int64_t rows,
                          const Placement& placement)
      : InterferometryTerm("log_closure_amplitude", static_cast<int64_t>(data.size())),
        sums_(data, rows, placement),
        y_(values_of(data, placement)),
        precision_(std::move(precision)) {}

  Tensor energy(const ModelVisibilities& V) const override { return 0.5 * precision_.squared(difference(V)); }
  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    add(pull.log_amplitude, sums_.over_closures(weight * precision_.times(difference(V))));
  }
  TermPointer with(const MoreNoise& more) const override {
    auto noisier = std::make_unique<LogClosureAmplitudeTerm>(*this);
    noisier->precision_ = precision_.with(more);
    return noisier;
  }

 private:
  Tensor difference(const ModelVisibilities& V) const { return sums_.over_legs(0.5 * V.square().log()) - y_; }

  ClosureSums sums_;
  Tensor y_;
  ClosurePrecision precision_;
};

class AmplitudeTerm final : public InterferometryTerm {
 public:
  AmplitudeTerm(const vlbi::Observation& observation, const std::vector<double>& amplitudes, const Placement& placement)
      : InterferometryTerm("amplitude", static_cast<int64_t>(observation.visibilities.size())),
        variance_(variances(observation, placement)),
        a_(place(at::tensor(amplitudes, at::kDouble).unsqueeze(1), placement)) {}
  Tensor energy(const ModelVisibilities& V) const override {
    return 0.5 * ((V.square().sqrt() - a_).square() / variance_).sum(0);
  }
  /// d|V| = |V| d log|V|.
  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    const auto size = V.square().sqrt();
    add(pull.log_amplitude, weight * (size - a_) * size / variance_);
  }
  TermPointer with(const MoreNoise& more) const override {
    auto noisier = std::make_unique<AmplitudeTerm>(*this);
    noisier->variance_ = variance_ + more.variance;
    return noisier;
  }

 private:
  Tensor variance_, a_;
};

class VisibilityTerm final : public InterferometryTerm {
 public:
  VisibilityTerm(const vlbi::Observation& observation, const Placement& placement)
      : InterferometryTerm("visibility", 2 * static_cast<int64_t>(observation.visibilities.size())),
        variance_(variances(observation, placement)) {
    re_ = column(
        observation.visibilities, [](const auto& row) { return row.value.real(); }, placement);
    im_ = column(
        observation.visibilities, [](const auto& row) { return row.value.imag(); }, placement);
  }
  Tensor energy(const ModelVisibilities& V) const override {
    return 0.5 * (((V.re - re_).square() + (V.im - im_).square()) / variance_).sum(0);
  }
  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    add(pull.re, weight * (V.re - re_) / variance_);
    add(pull.im, weight * (V.im - im_) / variance_);
  }
  TermPointer with(const MoreNoise& more) const override {
    auto noisier = std::make_unique<VisibilityTerm>(*this);
    noisier->variance_ = variance_ + more.variance;
    return noisier;
  }

 private:
  Tensor variance_, re_, im_;
};

class FluxTerm final : public InterferometryTerm {
 public:
  FluxTerm(double flux, double sd)
      : InterferometryTerm("flux", 1), flux_(flux), variance_(at::scalar_tensor(sd * sd, at::kDouble)) {}
  Tensor energy(const ModelVisibilities& V) const override { return 0.5 * (V.flux - flux_).square() / variance_; }
  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    add(pull.flux, weight * (V.flux - flux_) / variance_);
  }
  /// The flux is the visibility of no baseline.
  TermPointer with(const MoreNoise& more) const override {
    auto noisier = std::make_unique<FluxTerm>(*this);
    noisier->variance_ = variance_ + more.variance;
    return noisier;
  }

 private:
  double flux_;
  Tensor variance_;
};

}  // namespace

ModelVisibilities::ModelVisibilities(const Tensor& V, Tensor flux, double softening)
    : re(V.narrow(0, 0, V.size(0) / 2)),
      im(V.narrow(0, V.size(0) / 2, V.size(0) / 2)),
      flux(std::move(flux)),
      softening(softening) {}

const Tensor& ModelVisibilities::square() const {
  if (!square_.defined()) square_ = re.square().addcmul_(im, im).add_(softening);
  return square_;
}

/// arg V has the slope (-im, re) / |V|^2, log|V| the slope (re, im) / |V|^2.
Tensor Pull::on(const ModelVisibilities& V) const {
  Tensor on_re, on_im;
  if (log_amplitude.defined()) {
    const auto q = log_amplitude / V.square();
    on_re = q * V.re;
    on_im = q * V.im;
  }
  if (phase.defined()) {
    const auto q = phase / V.square();
    add(on_re, -q * V.im);
    add(on_im, q * V.re);
  }
  if (re.defined()) {
    add(on_re, re);
    add(on_im, im);
  }
  return on_re.defined() ? at::cat({on_re, on_im}) : on_re;
}

TermPointer closure_phase_term(const std::vector<vlbi::ClosurePhase>& data, ClosurePrecision precision, PhaseLaw law,
                               int64_t rows, const Placement& placement) {
  return std::make_unique<ClosurePhaseTerm>(data, std::move(precision), law, rows, placement);
}

TermPointer log_closure_amplitude_term(const std::vector<vlbi::LogClosureAmplitude>& data, ClosurePrecision precision,
                                       int64_t rows, const Placement& placement) {
  return std::make_unique<LogClosureAmplitudeTerm>(data, std::move(precision), rows, placement);
}

TermPointer amplitude_term(const vlbi::Observation& observation, const std::vector<double>& amplitudes,
                           const Placement& placement) {
  return std::make_unique<AmplitudeTerm>(observation, amplitudes, placement);
}

TermPointer visibility_term(const vlbi::Observation& observation, const Placement& placement) {
  return std::make_unique<VisibilityTerm>(observation, placement);
}

TermPointer flux_term(double flux, double sd) { return std::make_unique<FluxTerm>(flux, sd); }

}  // namespace penumbra
