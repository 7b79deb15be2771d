/// Recorded iterates in bounded memory: when the store is full every second record goes, and from then on only every
/// second offer is kept.
///
/// What is kept are the offers number stride, 2 stride, 3 stride, ...: evenly spaced, a function of the number of
/// offers alone, and the first to go is the earliest, which is nearest to the start.
#pragma once

#include <map>
#include <string>

#include "core/tensor.h"

namespace penumbra::diagnostics {

class History {
 public:
  /// Holds as many float32 records as fit in max_bytes, but never fewer than min_records (at least 2): without them
  /// convergence cannot be judged at all, so a large ensemble may go over max_bytes by that much.
  explicit History(int64_t max_bytes, int64_t min_records = 8);

  /// Offers an ensemble x [chains, C, H, W].
  void add(const Tensor& x);

  /// The kept records [T, chains, C, H, W], float32 on the CPU: a view, valid until the next add.
  Tensor draws() const;
  int64_t records() const { return records_; }
  /// Every stride-th offer is kept.
  int64_t stride() const { return stride_; }

  /// Bit-exact resumption. A History with less memory than the one that wrote the state thins until it fits.
  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state);

 private:
  int64_t capacity(at::IntArrayRef shape) const;
  void thin();

  int64_t max_bytes_;
  int64_t min_records_;
  int64_t records_ = 0;
  int64_t offers_ = 0;
  int64_t stride_ = 1;
  Tensor store_;  // [capacity, chains, C, H, W]; the operating system commits its pages as they are written
};

}  // namespace penumbra::diagnostics
