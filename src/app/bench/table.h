/// What a benchmark of a network found, for people and as JSON.
#pragma once

#include <optional>

#include "app/bench/measure.h"
#include "app/bench/subject.h"

namespace penumbra::app {

class BenchTable {
 public:
  /// Measures the peak.
  BenchTable(std::string what, const BenchOptions& options, const NetworkScore& prior, const at::Device& device);

  struct Row {
    std::string name;
    Timing timing;
    std::optional<double> gflop;  ///< of one call; none: not counted
    std::string note = {};
  };
  /// Ratios are to the first row.
  void add(Row row) { rows_.push_back(std::move(row)); }

  void print() const;

 private:
  double tflops(const Row& row) const { return *row.gflop / row.timing.median; }
  void print_json() const;

  std::string what_;
  const BenchOptions& options_;
  const NetworkScore& prior_;
  at::Device device_;
  Peak peak_;
  std::vector<Row> rows_;
};

}  // namespace penumbra::app
