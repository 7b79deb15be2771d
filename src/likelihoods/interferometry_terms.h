/// The data terms of an interferometer's likelihood: energies of model visibilities, and their pull on them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/tensor.h"
#include "likelihoods/closure_sums.h"
#include "likelihoods/cuda_closures.h"
#include "vlbi/observation.h"

namespace penumbra {

/// What an image looks like to the interferometer, rows by chains.
struct ModelVisibilities {
  Tensor re, im;                                      ///< [m, chains], Jy
  Tensor flux;                                        ///< [chains], Jy: the sum of all pixels
  double softening = 0;                               ///< eps^2
  std::optional<CudaClosures::Result> closures = {};  ///< where one kernel does all closure terms

  /// `V` is [2 m, chains], real parts above imaginary ones.
  ModelVisibilities(const Tensor& V, Tensor flux, double softening);

  /// |V|^2 + eps^2: at a null neither logarithm nor phase has a slope. Made when it is asked for: a kernel does not.
  const Tensor& square() const;

 private:
  mutable Tensor square_;
};

/// dE / d(each of these), [m, chains]; what no term touches stays undefined.
struct Pull {
  Tensor phase, log_amplitude, re, im;
  Tensor flux;  ///< [chains]

  /// dE/dV as [2 m, chains], real parts above imaginary ones: with it one product by A^T is the gradient of all terms.
  Tensor on(const ModelVisibilities& V) const;
};

class InterferometryTerm {
 public:
  InterferometryTerm(std::string name, int64_t data_count) : name_(std::move(name)), data_count_(data_count) {}
  virtual ~InterferometryTerm() = default;
  /// -log of the data's density up to a constant, [chains]; with all weights 1.
  virtual Tensor energy(const ModelVisibilities& V) const = 0;
  virtual void add_pull(const ModelVisibilities& V, double weight, Pull& pull) const = 0;
  /// The same data with more noise.
  virtual std::unique_ptr<const InterferometryTerm> with(const MoreNoise& more) const = 0;

  const std::string& name() const { return name_; }
  /// Real numbers.
  int64_t data_count() const { return data_count_; }

 private:
  std::string name_;
  int64_t data_count_;
};

/// How a phase's difference d becomes an energy: (1 - cos d) / sd^2, smooth and bounded, or d^2 / (2 sd^2) with d
/// wrapped into half a turn. With correlated errors the first is |exp(i d) - 1|^2 / 2 in the metric of C^-1.
enum class PhaseLaw { cosine, wrapped_square };

using TermPointer = std::unique_ptr<const InterferometryTerm>;

TermPointer closure_phase_term(const std::vector<vlbi::ClosurePhase>& data, ClosurePrecision precision, PhaseLaw law,
                               int64_t rows, const Placement& placement);
TermPointer log_closure_amplitude_term(const std::vector<vlbi::LogClosureAmplitude>& data, ClosurePrecision precision,
                                       int64_t rows, const Placement& placement);
/// (|V| - a)^2 / (2 sd^2).
TermPointer amplitude_term(const vlbi::Observation& observation, const std::vector<double>& amplitudes,
                           const Placement& placement);
/// |V - y|^2 / (2 sd^2).
TermPointer visibility_term(const vlbi::Observation& observation, const Placement& placement);
/// (sum of x - F)^2 / (2 sd^2), Jy.
TermPointer flux_term(double flux, double sd);

}  // namespace penumbra
