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

Tensor inverse_variances(const vlbi::Observation& observation, const Placement& placement) {
  return column(
      observation.visibilities, [](const auto& row) { return 1 / (row.sd * row.sd); }, placement);
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
        precision_(inverse_variances(observation, placement)),
        a_(place(at::tensor(amplitudes, at::kDouble).unsqueeze(1), placement)) {}
  Tensor energy(const ModelVisibilities& V) const override {
    return 0.5 * (precision_ * (V.square().sqrt() - a_).square()).sum(0);
  }
  /// d|V| = |V| d log|V|.
  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    const auto size = V.square().sqrt();
    add(pull.log_amplitude, weight * precision_ * (size - a_) * size);
  }

 private:
  Tensor precision_, a_;
};

class VisibilityTerm final : public InterferometryTerm {
 public:
  VisibilityTerm(const vlbi::Observation& observation, const Placement& placement)
      : InterferometryTerm("visibility", 2 * static_cast<int64_t>(observation.visibilities.size())),
        precision_(inverse_variances(observation, placement)) {
    re_ = column(
        observation.visibilities, [](const auto& row) { return row.value.real(); }, placement);
    im_ = column(
        observation.visibilities, [](const auto& row) { return row.value.imag(); }, placement);
  }
  Tensor energy(const ModelVisibilities& V) const override {
    return 0.5 * (precision_ * ((V.re - re_).square() + (V.im - im_).square())).sum(0);
  }
  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    add(pull.re, weight * precision_ * (V.re - re_));
    add(pull.im, weight * precision_ * (V.im - im_));
  }

 private:
  Tensor precision_, re_, im_;
};

class FluxTerm final : public InterferometryTerm {
 public:
  FluxTerm(double flux, double sd) : InterferometryTerm("flux", 1), flux_(flux), precision_(1 / (sd * sd)) {}
  Tensor energy(const ModelVisibilities& V) const override { return 0.5 * precision_ * (V.flux - flux_).square(); }
  void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const override {
    add(pull.flux, weight * precision_ * (V.flux - flux_));
  }

 private:
  double flux_, precision_;
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
