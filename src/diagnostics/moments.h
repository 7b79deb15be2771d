/// Mean and standard deviation of an ensemble of chains, accumulated while the chains run.
///
/// Welford's update (Technometrics 4, 1962) for each chain, Chan, Golub and LeVeque's merge (1979) over the chains:
/// no sum of squares is ever subtracted from another, so nothing cancels. Float64 whatever the chains use, where they
/// are: a GPU is not waited for. What is told is on the CPU.
#pragma once

#include <map>
#include <string>

#include "core/tensor.h"

namespace penumbra::diagnostics {

class RunningMoments {
 public:
  /// One recorded ensemble x [chains, C, H, W], in any precision, on any device; always the same chains.
  void add(const Tensor& x);

  int64_t chains() const;
  int64_t records() const { return records_; }
  /// Number of draws: chains x records.
  int64_t count() const { return chains() * records_; }

  /// Over all draws, [C, H, W]; at least one record.
  Tensor mean() const;
  /// Over all draws with count - 1 below, [C, H, W]. A single draw has no spread to measure: NaN, never a false zero.
  Tensor sd() const;
  /// Each chain's mean over its records, [chains, C, H, W].
  Tensor chain_means() const;

  /// Everything needed to go on as if never interrupted, bit for bit.
  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state);

 private:
  int64_t records_ = 0;
  Tensor chain_means_;  // [chains, C, H, W]
  Tensor within_;       // [C, H, W], squared deviations from the chain's own mean, summed over records and chains
};

}  // namespace penumbra::diagnostics
