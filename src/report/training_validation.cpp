/// validation.csv: a curve and a table row for each range of noise levels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/number.h"
#include "report/training_course.h"

namespace penumbra::report {
namespace {

constexpr size_t most_bands = 6;  ///< as many as there are colours

/// One range of noise levels with both sets of weights, either of which may be missing.
struct Band {
  double low = 0, high = 0;
  const ValidationCurve* ema = nullptr;
  const ValidationCurve* raw = nullptr;

  /// The curve that counts: samplers use the averaged weights.
  const ValidationCurve& main() const { return ema ? *ema : *raw; }
  bool has_levels() const { return high > 0; }
  std::string name() const {
    return has_levels() ? fmt::format("{} to {}", format_number(low), format_number(high)) : "all images";
  }
  /// In a sentence or a legend.
  std::string where() const { return has_levels() ? "sigma " + name() : name(); }
};

std::vector<Band> bands_of(const TrainingFolder& run) {
  std::vector<Band> bands;
  for (const auto& curve : run.validation) {
    if (bands.empty() || bands.back().low != curve.sigma_low || bands.back().high != curve.sigma_high)
      bands.push_back({curve.sigma_low, curve.sigma_high});
    (curve.ema ? bands.back().ema : bands.back().raw) = &curve;
  }
  return bands;
}

/// So many of the bands, from the first to the last.
std::vector<Band> spread(const std::vector<Band>& bands, size_t count) {
  if (bands.size() <= count) return bands;
  std::vector<Band> chosen;
  for (size_t i = 0; i < count; ++i) chosen.push_back(bands[i * (bands.size() - 1) / (count - 1)]);
  return chosen;
}

using Values = std::vector<double> ValidationCurve::*;

Chart chart_of(const std::vector<Band>& bands, Values values, Chart chart) {
  const StepAxis axis(bands.front().main().step);
  chart.x = axis.axis();
  chart.height = 340;
  for (size_t i = 0; i < bands.size(); ++i) {
    const auto add = [&](const ValidationCurve* curve, const std::string& name, bool dashed) {
      if (!curve) return;
      chart.series.push_back(
          {.name = name, .x = axis(curve->step), .y = curve->*values, .dashed = dashed, .colour = static_cast<int>(i)});
    };
    const auto name = bands[i].where();
    add(bands[i].raw, bands[i].ema ? "" : name, bands[i].ema != nullptr);
    add(bands[i].ema, name, false);
  }
  return chart;
}

/// The place of the lowest finite value.
std::optional<size_t> lowest(const std::vector<double>& values) {
  std::optional<size_t> best;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]) && (!best || values[i] < values[*best])) best = i;
  return best;
}

std::string number(double value, int digits = 3) { return std::isnan(value) ? "" : format_number(value, digits); }

std::vector<Cell> row_of(const Band& band) {
  const auto& curve = band.main();
  const auto best = lowest(curve.loss);
  const auto raw = band.raw ? band.raw->loss.back() : NAN, ema = band.ema ? band.ema->loss.back() : NAN;
  const auto gain = 100 * (1 - ema / raw);
  return {band.name(),
          number(curve.loss.front()),
          best ? fmt::format("{} at {:.0f}", number(curve.loss[*best]), curve.step[*best]) : "",
          number(ema),
          number(raw),
          std::isfinite(gain) ? fmt::format("{:+.1f} %", -gain) : "",
          number(curve.psnr.back(), 4)};
}

bool has_psnr(const std::vector<Band>& bands) {
  return std::any_of(bands.begin(), bands.end(), [](const Band& band) { return lowest(band.main().psnr).has_value(); });
}

}  // namespace

std::vector<std::pair<Badge, std::string>> validation_findings(const TrainingFolder& run) {
  std::vector<std::pair<Badge, std::string>> findings;
  constexpr double tolerance = 0.02;  // of a loss: less is the noise of a small validation set
  std::string risen, broken, worse;
  const auto add = [](std::string& list, const Band& band) {
    list += list.empty() ? (band.has_levels() ? " at sigma " : " on ") + band.name() : ", " + band.name();
  };
  const auto bands = bands_of(run);
  for (const auto& band : bands) {
    const auto& loss = band.main().loss;
    if (!std::isfinite(loss.back())) add(broken, band);
    if (const auto best = lowest(loss); best && loss.back() > (1 + tolerance) * loss[*best]) add(risen, band);
    if (band.ema && band.raw && band.ema->loss.back() > (1 + tolerance) * band.raw->loss.back()) add(worse, band);
  }
  if (!broken.empty())
    findings.push_back({{Level::bad, "not finite"}, "The last validation loss is no number" + broken + "."});
  if (!risen.empty())
    findings.push_back({{Level::warning, "past its best"},
                        "The validation loss has risen by more than 2 % since its lowest point" + risen +
                            ": the network begins to learn its images by heart, or the learning rate is too high."});
  if (!worse.empty())
    findings.push_back({{Level::note, "averaging lags"},
                        "The averaged weights are worse than the raw ones" + worse +
                            ": the average still remembers the beginning. Longer training or a faster average helps."});
  if (findings.empty() && !bands.empty() && bands.front().main().loss.size() > 1)
    findings.push_back({{Level::good, "still at its best"},
                        fmt::format("{}he last validation loss is within 2 % of the lowest.",
                                    bands.front().has_levels() ? "At every noise level t" : "T")});
  return findings;
}

void add_validation(Page& page, const TrainingFolder& run) {
  const auto bands = bands_of(run);
  if (bands.empty()) return;
  const bool levels = bands.front().has_levels();
  page.section("On images that it has not seen",
               fmt::format("{} Solid lines are the averaged weights (EMA), which samplers use; dashed lines the raw "
                           "ones.",
                           levels ? "Held-out images with noise of each range of sigma."
                                  : "Held-out images from their simulated measurements. The loss is the mean squared "
                                    "error."));
  page.findings(validation_findings(run));
  const auto shown = spread(bands, most_bands);
  const auto omitted = bands.size() - shown.size();
  const auto caption = omitted ? fmt::format("{} of {} ranges; the table has all.", shown.size(), bands.size()) : "";
  std::vector<Figure> figures{
      Plot{chart_of(shown, &ValidationCurve::loss, {.title = "Validation loss", .y = {.label = "loss", .log = true}}),
           caption}};
  if (has_psnr(bands))
    figures.push_back(
        Plot{chart_of(shown, &ValidationCurve::psnr,
                      {.title = levels ? "Denoising" : "Reconstruction", .y = {.label = "PSNR (dB)"}}),
             fmt::format("Of the image that one evaluation of the network estimates from {}; larger is better.",
                         levels ? "a noisy one" : "its data")});
  page.figures(figures, Size::large);
  Table table{.header = {levels ? "sigma" : "", "loss at first", "lowest, at step", "last, EMA", "last, raw",
                         "EMA against raw", "PSNR (dB)"},
              .numbers = true};
  for (const auto& band : bands) table.rows.push_back(row_of(band));
  page.table(table);
}

}  // namespace penumbra::report
