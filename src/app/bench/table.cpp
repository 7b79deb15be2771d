#include "app/bench/table.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <cmath>

#include "app/json.h"
#include "core/device_memory.h"

namespace penumbra::app {

BenchTable::BenchTable(std::string what, const BenchOptions& options, const NetworkScore& prior,
                       const at::Device& device)
    : what_(std::move(what)),
      options_(options),
      prior_(prior),
      device_(device),
      peak_(measure_peak(device, *network_compute(prior) == "float32" ? at::kFloat : at::kBFloat16,
                         std::min(options.seconds, 1.0))) {
  reset_peak_memory(device);
}

void BenchTable::print_json() const {
  nlohmann::json table{{"what", what_},
                       {"network", prior_.loaded().header.name},
                       {"parameters", prior_.loaded().parameters},
                       {"image_shape", prior_.image_shape()},
                       {"batch", options_.batch},
                       {"compute", *network_compute(prior_)},
                       {"device", device_.str()},
                       {"libtorch", TORCH_VERSION},
                       {"gflop_per_image", number(gflop_per_image(prior_))},
                       {"peak_tflops", peak_.tflops},
                       {"peak_of", peak_.of},
                       {"memory_bytes", peak_memory(device_)},
                       {"rows", nlohmann::json::array()}};
  for (const auto& row : rows_) {
    nlohmann::json cells{{"name", row.name},
                         {"milliseconds", row.timing.median},
                         {"low", row.timing.low},
                         {"high", row.timing.high},
                         {"ratio", row.timing.median / rows_.front().timing.median}};
    if (row.gflop) cells["tflops"] = number(tflops(row));
    if (row.gflop) cells["share_of_peak"] = number(tflops(row) / peak_.tflops);
    if (!row.note.empty()) cells["note"] = row.note;
    table["rows"].push_back(cells);
  }
  fmt::print("{}\n", table.dump(2));
}

void BenchTable::print() const {
  if (options_.json) return print_json();
  constexpr double gibi = 1024.0 * 1024 * 1024;
  fmt::print("{}: {:.1f} million parameters, {:.1f} GFLOP an image; {} of {}, {}, {}\n", prior_.loaded().header.name,
             1e-6 * static_cast<double>(prior_.loaded().parameters), gflop_per_image(prior_), options_.batch,
             describe(prior_.image_shape()), *network_compute(prior_), device_.str());
  fmt::print("  {:<22} {:>10} {:>21} {:>7} {:>9} {:>8}\n", "", "ms", "(10 % .. 90 %)", "ratio", "TFLOP/s", "of peak");
  for (const auto& row : rows_) {
    fmt::print("  {:<22} {:>10.3f} {:>9.3f} .. {:>8.3f} {:>7.3f}", row.name, row.timing.median, row.timing.low,
               row.timing.high, row.timing.median / rows_.front().timing.median);
    if (row.gflop) fmt::print(" {:>9.4g} {:>6.1f} %", tflops(row), 100 * tflops(row) / peak_.tflops);
    fmt::print("{}{}\n", row.note.empty() ? "" : "  ", row.note);
  }
  fmt::print("  peak {:.4g} TFLOP/s ({}); memory {:.2f} GiB\n", peak_.tflops, peak_.of,
             static_cast<double>(peak_memory(device_)) / gibi);
}

}  // namespace penumbra::app
