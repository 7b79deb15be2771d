/// The course of a run, one row a traced iteration: trace.csv.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace penumbra {

struct TraceRow {
  double iteration = 0, sigma = 0, alpha = 0, step_size = 0;
  double chi2 = 0;           ///< mean over chains and data; NaN without data
  double gradient_norm = 0;  ///< mean over chains of |grad g|
  double score_norm = 0;     ///< mean over chains of |S|
  double max_abs = 0;        ///< largest pixel of any chain
  double spread = 0;         ///< mean over pixels of the SD over chains; NaN for one chain
  double objective = 0;      ///< what a method that fits something minimises; NaN for the others
  double acceptance = 0;     ///< mean over chains of the Metropolis test's probability; NaN without such a test
  double seconds = 0;        ///< since the run's start, without interruptions
};

class Trace {
 public:
  void add(const TraceRow& row) { rows_.push_back(row); }
  const std::vector<TraceRow>& rows() const { return rows_; }

  void write(const std::filesystem::path& path) const;

  Tensor state() const;
  void restore(const Tensor& state);

 private:
  std::vector<TraceRow> rows_;
};

}  // namespace penumbra
