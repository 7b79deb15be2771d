#include "vlbi/golden.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/paths.h"

namespace penumbra::test {

std::vector<std::string> golden_observations() {
  std::vector<std::string> names;
  if (const auto folder = shared("interferometry/golden"))
    for (const auto& entry : std::filesystem::directory_iterator(*folder))
      if (const auto& path = entry.path(); path.extension() == ".npz" && path.stem().string().starts_with("M87_"))
        names.push_back(path.stem().string());
  std::sort(names.begin(), names.end());
  return names.empty() ? std::vector<std::string>{"M87_2017_096_lo", "M87_2017_100_hi"} : names;
}

vlbi::Observation observation_in(const Arrays& arrays, const std::string& group) {
  const auto column = [&](const char* name) { return arrays.at(group + name).to(at::kDouble); };
  const auto time = column("time"), first = column("i1"), second = column("i2"), u = column("u"), v = column("v"),
             sd = column("sigma");
  const auto value = arrays.at(group + "vis");
  vlbi::Observation observation;
  for (int64_t k = 0; k < time.size(0); ++k) {
    const auto at = [k](const Tensor& x) { return x[k].item<double>(); };
    const auto z = value[k].item<c10::complex<double>>();
    observation.visibilities.push_back({.time = at(time),
                                        .first = static_cast<int>(at(first)),
                                        .second = static_cast<int>(at(second)),
                                        .u = at(u),
                                        .v = at(v),
                                        .value = {z.real(), z.imag()},
                                        .sd = at(sd)});
  }
  const auto last = second.max().item<int64_t>();
  for (int64_t k = 0; k <= last; ++k) observation.stations.push_back({.name = std::to_string(k)});
  return observation;
}

vlbi::Closures closures_in(const Arrays& arrays) {
  vlbi::Closures closures;
  const auto phases = arrays.at("cp").contiguous(), amplitudes = arrays.at("la").contiguous();
  for (int64_t i = 0; i < phases.size(0); ++i) {
    // time, a, b, c, (row, conjugated) of three legs, value, sd
    const auto* row = phases.data_ptr<double>() + i * phases.size(1);
    vlbi::ClosurePhase phase;
    for (size_t leg = 0; leg < 3; ++leg) {
      phase.rows[leg] = static_cast<int64_t>(row[4 + 2 * leg]);
      phase.signs[leg] = row[5 + 2 * leg] != 0 ? -1 : 1;
    }
    phase.value = row[10];
    phase.sd = row[11];
    closures.phases.push_back(phase);
  }
  for (int64_t i = 0; i < amplitudes.size(0); ++i) {
    // time, a, b, c, d, rows of 12, 34, 14, 23, value, sd
    const auto* row = amplitudes.data_ptr<double>() + i * amplitudes.size(1);
    vlbi::LogClosureAmplitude amplitude;
    for (size_t leg = 0; leg < 4; ++leg) amplitude.rows[leg] = static_cast<int64_t>(row[5 + leg]);
    amplitude.signs = {1, 1, -1, -1};
    amplitude.value = row[9];
    amplitude.sd = row[10];
    closures.amplitudes.push_back(amplitude);
  }
  return closures;
}

nlohmann::json golden_summary() {
  std::ifstream file(shared("interferometry/golden/summary.json").value());
  return nlohmann::json::parse(file);
}

vlbi::Observation synthetic_observation(int stations, int times) {
  constexpr double radius = 5e9, declination = 0.4;  // wavelengths, radians
  vlbi::Observation observation;
  for (int s = 0; s < stations; ++s) observation.stations.push_back({.name = std::to_string(s)});
  for (int t = 0; t < times; ++t) {
    const auto place = [&](int s) {
      const double latitude = 0.9 * std::sin(2.3 * s + 0.4), angle = 0.8 * s * s + 0.26 * t;
      const double x = radius * std::cos(latitude) * std::cos(angle), y = radius * std::cos(latitude) * std::sin(angle),
                   z = radius * std::sin(latitude);
      return std::pair(y, -std::sin(declination) * x + std::cos(declination) * z);
    };
    for (int a = 0; a < stations; ++a)
      for (int b = a + 1; b < stations; ++b)
        observation.visibilities.push_back({.time = static_cast<double>(t),
                                            .first = a,
                                            .second = b,
                                            .u = place(a).first - place(b).first,
                                            .v = place(a).second - place(b).second,
                                            .value = 1,
                                            .sd = 0.01});
  }
  return observation;
}

}  // namespace penumbra::test
