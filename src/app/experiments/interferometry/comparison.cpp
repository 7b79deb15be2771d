#include "app/experiments/interferometry/comparison.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace penumbra::app::interferometry {
namespace {

std::string cell(const char* format, double value) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "";
}

/// The most that is drawn; the others are in the table.
constexpr int64_t most_rows = 20;
constexpr int64_t enlargement = 2, gap = 4;

Tensor tile(const Tensor& image, report::Range range, report::Colormap map) {
  const auto bytes = report::picture_bytes(image[0], range, map);
  return at::constant_pad_nd(bytes.repeat_interleave(enlargement, 1).repeat_interleave(enlargement, 2),
                             {0, gap, 0, gap}, 255);
}

/// Of the pictures of uncertainty.
const MethodResults* with_sd(const Comparison& comparison) {
  for (auto method = comparison.methods.rbegin(); method != comparison.methods.rend(); ++method)
    if (method->images.front().sd.defined()) return &*method;
  return nullptr;
}

}  // namespace

double MethodResults::average(double Quality::*of) const {
  double sum = 0, count = 0;
  for (const auto& image : images)
    if (std::isfinite(image.quality.*of)) sum += image.quality.*of, ++count;
  return sum / count;
}

bool MethodResults::diverged() const {
  return std::any_of(images.begin(), images.end(), [](const Reconstruction& r) { return r.diverged; });
}

double MethodResults::seconds() const {
  double sum = 0;
  for (const auto& image : images) sum += image.seconds;
  return sum;
}

bool is_apmc(const std::string& method) { return method == "APMC-PnP" || method == "APMC-RED"; }

TextTable method_table(const Comparison& comparison) {
  TextTable table{{"method", "PSNR dB", "cross-corr.", "chi2 phases", "chi2 amplitudes", "left out", "phases of all",
                   "amplitudes of all", "in 3 SD", "mean SD", "diameter error uas", "with ring", "seconds"},
                  {}};
  for (const auto& m : comparison.methods)
    table.rows.push_back(
        {m.diverged() ? m.method + " (diverged)" : m.method, cell("{:.2f}", m.average(&Quality::psnr)),
         cell("{:.3f}", m.average(&Quality::ncc)), cell("{:.2f}", m.average(&Quality::chi2_phase)),
         cell("{:.2f}", m.average(&Quality::chi2_amplitude)), cell("{:.2f}", m.average(&Quality::left_out)),
         cell("{:.2f}", m.average(&Quality::chi2_phase_all)), cell("{:.2f}", m.average(&Quality::chi2_amplitude_all)),
         cell("{:.3f}", m.average(&Quality::coverage)), cell("{:.4f}", m.average(&Quality::sd)),
         cell("{:.1f}", m.average(&Quality::diameter_error)), cell("{:.2f}", m.average(&Quality::with_ring)),
         cell("{:.0f}", m.seconds())});
  return table;
}

TextTable image_table(const Comparison& comparison) {
  TextTable table{{"method", "image"}, {}};
  for (const auto& field : quality_fields()) table.header.push_back(field.name);
  for (const auto& m : comparison.methods)
    for (size_t i = 0; i < m.images.size(); ++i) {
      std::vector<std::string> row{m.method, comparison.truths.names[i]};
      for (const auto& [name, value] : quality_fields()) row.push_back(cell("{:.6g}", m.images[i].quality.*value));
      table.rows.push_back(std::move(row));
    }
  return table;
}

std::vector<Check> claims(const Comparison& comparison) {
  const MethodResults* best = nullptr;
  for (const auto& m : comparison.methods)
    if (!is_apmc(m.method) && !m.diverged() && (!best || m.average(&Quality::psnr) > best->average(&Quality::psnr)))
      best = &m;
  std::vector<Check> checks;
  for (const auto& m : comparison.methods) {
    if (!is_apmc(m.method)) continue;
    // Averages leave out what is not a number: they would speak for the other images alone.
    if (m.diverged()) {
      checks.push_back({m.method + ": no image diverges", false, "at least one did; nothing else is checked"});
      continue;
    }
    struct Kind {
      const char* name;
      double Quality::*kept;
      double Quality::*all;
    };
    const double left_out = m.average(&Quality::left_out);
    for (const auto& [name, kept, all] :
         {Kind{"closure phases", &Quality::chi2_phase, &Quality::chi2_phase_all},
          Kind{"log closure amplitudes", &Quality::chi2_amplitude, &Quality::chi2_amplitude_all}}) {
      const auto near_one = [](double chi2) { return chi2 >= 0.8 && chi2 <= 1.3; };
      const double of_all = m.average(all), of_kept = m.average(kept);
      checks.push_back({fmt::format("{}: mean chi2 of {} of all samples is in [0.8, 1.3]", m.method, name),
                        near_one(of_all), fmt::format("{:.2f}", of_all)});
      // Samples are left out by this very number.
      checks.push_back({fmt::format("{}: mean chi2 of {} of the samples that fit is in [0.8, 1.3]", m.method, name),
                        near_one(of_kept), fmt::format("{:.2f}; {:.0f} % are left out", of_kept, 100 * left_out)});
    }
    if (best) {
      const double own = m.average(&Quality::psnr), other = best->average(&Quality::psnr);
      size_t nearer = 0;
      for (size_t i = 0; i < m.images.size(); ++i) nearer += m.images[i].quality.psnr > best->images[i].quality.psnr;
      checks.push_back({m.method + ": the mean is nearer to the truth than the best classical image", own > other,
                        fmt::format("{:.2f} dB against {:.2f} ({}); on {} of {} images", own, other, best->method,
                                    nearer, m.images.size())});
    }
    const double coverage = m.average(&Quality::coverage);
    checks.push_back({m.method + ": 3 SD hold the truth in 90 % of the pixels or more", coverage >= 0.9,
                      fmt::format("{:.1f} %", 100 * coverage)});
  }
  return checks;
}

std::vector<std::string> contact_columns(const Comparison& comparison) {
  std::vector<std::string> names{"truth"};
  for (const auto& m : comparison.methods) names.push_back(m.method);
  if (const auto* m = with_sd(comparison)) names.push_back("SD of " + m->method);
  return names;
}

Tensor contact_sheet(const Comparison& comparison) {
  const auto* uncertain = with_sd(comparison);
  double most_sd = 0;
  if (uncertain)
    for (const auto& image : uncertain->images)
      if (!image.diverged) most_sd = std::max(most_sd, image.sd.max().item<double>());
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < std::min(comparison.truths.images.size(0), most_rows); ++i) {
    const auto truth = comparison.truths.images[i];
    const report::Range range{0, truth.max().item<double>()};
    std::vector<Tensor> tiles{tile(truth, range, report::Colormap::ember)};
    for (const auto& m : comparison.methods)
      tiles.push_back(tile(m.images[static_cast<size_t>(i)].mean, range, report::Colormap::ember));
    if (uncertain) {
      const auto& sd = uncertain->images[static_cast<size_t>(i)].sd;
      const report::Range scale{0, most_sd > 0 ? most_sd : 1};
      tiles.push_back(tile(sd.defined() ? sd : at::zeros_like(truth), scale, report::Colormap::sd));
    }
    rows.push_back(at::cat(tiles, 2));
  }
  return at::cat(rows, 1);
}

}  // namespace penumbra::app::interferometry
