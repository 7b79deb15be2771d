/// Which rows of a matrix of small integers are independent of those before: decided exactly.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace penumbra::vlbi {

/// Elimination modulo the prime p = 2^61 - 1. Rows are independent over the rationals where they are modulo p; the
/// converse holds as long as no minor is a multiple of p. Rows of norm 2 at most have minors of 2^rank at most
/// (Hadamard), so up to rank 60, more than the closures of 12 stations at one time, the answer is proven.
class IndependentRows {
 public:
  explicit IndependentRows(size_t columns) : columns_(columns) {}

  /// (column, entry) of a sparse row; true, and the row is kept, where it raises the rank.
  bool add(std::span<const std::pair<size_t, int>> entries);
  size_t rank() const { return rows_.size(); }

 private:
  struct Row {
    size_t pivot;                  ///< the first column that is not zero; its entry is 1
    std::vector<uint64_t> values;  ///< modulo p
  };
  size_t columns_;
  std::vector<Row> rows_;
};

}  // namespace penumbra::vlbi
