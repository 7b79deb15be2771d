#include "run/trace.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>

#include "core/error.h"
#include "io/file.h"

namespace penumbra {
namespace {

constexpr std::array names{"iteration",  "sigma",   "alpha",  "step_size", "chi2",       "gradient_norm",
                           "score_norm", "max_abs", "spread", "objective", "acceptance", "seconds"};
constexpr int64_t columns = names.size();
static_assert(sizeof(TraceRow) == columns * sizeof(double));

/// A number that does not exist (no data, one chain) is an empty cell.
std::string cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

}  // namespace

void Trace::write(const std::filesystem::path& path) const {
  std::string text = fmt::format("{}\n", fmt::join(names, ","));
  for (const auto& row : rows_) {
    std::array<double, columns> values;
    std::memcpy(values.data(), &row, sizeof row);
    std::vector<std::string> cells;
    for (const double value : values) cells.push_back(cell(value));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  io::write_file(path, text);
}

Tensor Trace::state() const {
  auto state = at::empty({static_cast<int64_t>(rows_.size()), columns}, at::TensorOptions().dtype(at::kDouble));
  if (!rows_.empty()) std::memcpy(state.data_ptr(), rows_.data(), rows_.size() * sizeof(TraceRow));
  return state;
}

void Trace::restore(const Tensor& state) {
  if (state.dim() != 2 || state.size(1) != columns || state.scalar_type() != at::kDouble)
    input_error("checkpoint: the trace has {} columns, expected {}", describe(state.sizes()), columns);
  rows_.resize(static_cast<size_t>(state.size(0)));
  if (!rows_.empty()) std::memcpy(rows_.data(), state.contiguous().data_ptr(), rows_.size() * sizeof(TraceRow));
}

}  // namespace penumbra
