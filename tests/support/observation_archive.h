/// Observations as NPZ, as numpy.savez would write them.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/npy.h"
#include "support/program.h"
#include "support/zip_archive.h"
#include "vlbi/observation.h"

namespace penumbra::test {

using Columns = std::vector<std::pair<std::string, Tensor>>;

inline Columns columns_of(const vlbi::Observation& observation) {
  const auto& rows = observation.visibilities;
  const auto column = [&](auto number) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(number(row));
    return at::tensor(values, at::kDouble);
  };
  const auto re = column([](const auto&row) { return row.value.real(); }),
             im = column([](const auto&row) { return row.value.imag(); });
  return {{"time", column([](const auto& row) { return row.time; })},
          {"i1", column([](const auto& row) { return row.first; }).to(at::kShort)},
          {"i2", column([](const auto& row) { return row.second; }).to(at::kShort)},
          {"u", column([](const auto& row) { return row.u; })},
          {"v", column([](const auto& row) { return row.v; })},
          {"vis", at::complex(re, im)},
          {"sigma", column([](const auto& row) { return row.sd; })}};
}

inline void write_npz(const std::filesystem::path& path, const Columns& columns, const std::string& prefix = "") {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [name, array] : columns) entries.emplace_back(prefix + name + ".npy", io::format_npy(array));
  write_text(path, zip_archive(entries));
}

}  // namespace penumbra::test
