/// The samples of a posterior sorted into modes, each with its weight, mean, SD and data fit (docs/modes.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "diagnostics/alignment.h"

namespace penumbra::diagnostics {

enum class Align { shift, none };

struct ModeOptions {
  Align align = Align::none;
  int64_t max_shift = 0;  ///< pixels; 0: a quarter of the shorter side
  int64_t most = 6;       ///< modes
  uint64_t seed = 0;
};

/// Below this many samples there is nothing to tell apart: all are one mode.
constexpr int64_t least_samples_for_modes = 20;

/// chi^2 of every sample by one kind of data.
struct TermFit {
  std::string term;
  Tensor chi2;             ///< [N], a datum
  int64_t data_count = 1;  ///< real numbers
};

struct Mode {
  int64_t count = 0;
  double weight = 0, weight_error = 0;  ///< share, and its binomial standard error at the effective number of samples
  Tensor mean, sd;                      ///< [C, H, W] of the aligned samples; the SD of one sample is NaN
  int64_t medoid = 0;                   ///< the sample nearest to all others of the mode
  std::vector<double> chi2;             ///< mean over its samples, by term
};

struct Modes {
  Alignment alignment;            ///< of all samples; with Align::none as they are
  std::vector<double> weights;    ///< of the samples, with sum 1
  std::vector<int64_t> label;     ///< of each sample
  std::vector<Mode> modes;        ///< the heaviest first
  double distance = 0;            ///< D of the first parting, see bisection.h; 0 where there was none
  std::optional<double> p_value;  ///< of it
};

/// Parts [N, C, H, W] in two as long as a part is found to be two clouds. Weights say how much a sample counts in a
/// mode's weight, mean and SD; empty: all the same. Throws InputError on samples or weights that are not finite.
Modes find_modes(const Tensor& samples, const std::vector<TermFit>& fits, const ModeOptions& options,
                 std::vector<double> weights = {});

/// The same parting with other weights of the samples, hence other weights, means, SDs and order of the modes.
Modes reweigh(const Modes& found, const std::vector<TermFit>& fits, std::vector<double> weights);

}  // namespace penumbra::diagnostics
