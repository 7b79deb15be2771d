/// An interferometer's data: where its baselines were, and what the samples say of what they measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/run_answer.h"

namespace penumbra::report {
namespace {

constexpr double giga = 1e9;

/// One column of visibilities.csv; its names of stations are no numbers.
std::vector<double> numbers_under(const Csv& table, const std::string& name) {
  const auto at = static_cast<size_t>(std::find(table.names.begin(), table.names.end(), name) - table.names.begin());
  std::vector<double> numbers;
  for (size_t row = 0; at < table.names.size() && row < table.cells.size(); ++row)
    numbers.push_back(number_in(table, row, at));
  return numbers;
}

Plot coverage(const std::vector<double>& u, const std::vector<double>& v) {
  Series both{.x = {}, .y = {}, .mark = Mark::points, .colour = 0};
  // A baseline the other way round is the conjugate number.
  for (const double sign : {1.0, -1.0})
    for (size_t k = 0; k < u.size(); ++k) {
      both.x.push_back(sign * u[k] / giga);
      both.y.push_back(sign * v[k] / giga);
    }
  return {{.title = "Baselines",
           .x = {.label = "u (10⁹ wavelengths)"},
           .y = {.label = "v (10⁹ wavelengths)"},
           .series = {both},
           .width = 400,
           .square = true},
          fmt::format("Where the {} visibilities that are left lie, and their conjugates: what the image is known by.",
                      u.size())};
}

Plot amplitudes(const Csv& table, const std::vector<double>& u, const std::vector<double>& v) {
  std::vector<double> length;
  for (size_t k = 0; k < u.size(); ++k) length.push_back(std::hypot(u[k], v[k]) / giga);
  const auto points = [&](const char* name, const char* of, int colour) {
    return Series{.name = name, .x = length, .y = numbers_under(table, of), .mark = Mark::points, .colour = colour};
  };
  return {{.title = "Amplitudes",
           .x = {.label = "length of the baseline (10⁹ wavelengths)"},
           .y = {.label = "Jy"},
           .series = {points("measured", "amplitude_jy", 0), points("mean of the samples", "samples_mean_jy", 1)},
           .width = 520},
          "Where only closures are fitted the stations' gains stand between the two: a baseline may lie off by them, "
          "and the total flux is the samples' own."};
}

}  // namespace

void add_data(Page& page, const RunFolder& run) {
  if (!run.visibilities) return;
  const auto u = numbers_under(*run.visibilities, "u"), v = numbers_under(*run.visibilities, "v");
  if (u.empty() || u.size() != v.size()) return;
  std::string text;
  for (const auto* key : {"source", "date"})
    if (const auto found = text_at(run.summary, {"data", key}); !found.empty())
      text += (text.empty() ? "" : ", ") + found;
  std::string stations;
  if (const auto& data = run.summary.value("data", nlohmann::json::object()); data.is_object())
    for (const auto& name : data.value("stations", nlohmann::json::array()))
      if (name.is_string()) stations += (stations.empty() ? "" : ", ") + name.get<std::string>();
  if (!stations.empty()) text += (text.empty() ? "" : "; ") + ("stations " + stations);
  page.section("The data", text.empty() ? "" : text + ".");
  page.figures({coverage(u, v), amplitudes(*run.visibilities, u, v)}, Size::large);
}

}  // namespace penumbra::report
