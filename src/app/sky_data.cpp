#include "app/sky_data.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "io/file.h"
#include "likelihoods/clipped.h"
#include "likelihoods/interferometry.h"
#include "report/csv.h"
#include "vlbi/date.h"

namespace penumbra::app {
namespace {

constexpr int64_t samples_at_once = 100;

/// |V| of every sample, [N, visibilities], float64.
Tensor sample_amplitudes(const InterferometryLikelihood& likelihood, const Tensor& samples) {
  const c10::NoGradGuard no_gradients;
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < samples.size(0); first += samples_at_once) {
    const auto batch = samples.narrow(0, first, std::min(samples_at_once, samples.size(0) - first));
    parts.push_back(likelihood.model_amplitudes(batch).to(at::kCPU, at::kDouble));
  }
  return at::cat(parts);
}

}  // namespace

nlohmann::json write_sky_data(const std::filesystem::path& folder, const Likelihood& likelihood,
                              const Tensor& samples) {
  const auto* sky = dynamic_cast<const InterferometryLikelihood*>(&unclipped(likelihood));
  if (!sky) return nullptr;
  const auto& observation = sky->observation();
  const auto amplitudes = sample_amplitudes(*sky, samples);
  const auto mean = amplitudes.mean(0), sd = amplitudes.std(0, /*unbiased=*/amplitudes.size(0) > 1);
  std::string table = "time_hours,first,second,u,v,amplitude_jy,sd_jy,samples_mean_jy,samples_sd_jy\n";
  std::set<std::string> stations;
  for (size_t k = 0; k < observation.visibilities.size(); ++k) {
    const auto& row = observation.visibilities[k];
    const auto name = [&](int station) { return observation.stations[static_cast<size_t>(station)].name; };
    stations.insert({name(row.first), name(row.second)});
    const auto at = static_cast<int64_t>(k);
    table += fmt::format("{:.6f},{},{},{:.8g},{:.8g},{:.6g},{:.6g},{:.6g},{:.6g}\n", row.time,
                         report::csv_cell(name(row.first)), report::csv_cell(name(row.second)), row.u, row.v,
                         std::abs(row.value), row.sd, mean[at].item<double>(), sd[at].item<double>());
  }
  io::write_file(folder / "visibilities.csv", table);
  nlohmann::json facts{{"source", observation.source}, {"stations", stations}};
  if (observation.mjd > 0) facts["date"] = vlbi::date_of(observation.mjd);
  return facts;
}

}  // namespace penumbra::app
