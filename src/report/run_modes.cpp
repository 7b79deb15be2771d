#include "report/run_modes.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/number.h"
#include "report/run_answer.h"

namespace penumbra::report {
namespace {

using nlohmann::json;

std::string mode_name(size_t mode) { return fmt::format("mode {}", mode + 1); }

/// A list of numbers at summary.a.b...; what is none is NaN.
std::vector<double> list_at(const json& from, const std::vector<std::string>& keys) {
  const auto* at = &from;
  for (const auto& key : keys) {
    if (!at->is_object() || !at->contains(key)) return {};
    at = &(*at)[key];
  }
  std::vector<double> numbers;
  if (at->is_array())
    for (const auto& value : *at) numbers.push_back(value.is_number() ? value.get<double>() : NAN);
  return numbers;
}

std::vector<double> of_mode(const std::vector<double>& values, const std::vector<double>& label, size_t mode) {
  std::vector<double> own;
  for (size_t i = 0; i < std::min(values.size(), label.size()); ++i)
    if (label[i] == static_cast<double>(mode)) own.push_back(values[i]);
  return own;
}

/// Bars by mode over common bins.
Chart histograms(const std::string& title, const std::string& unit, const std::vector<double>& values,
                 const std::vector<double>& label, size_t modes) {
  constexpr int bins = 24;
  Chart chart{.title = title, .x = {.label = unit}, .y = {.label = "samples"}, .width = 400, .height = 300};
  const auto all = histogram("", values, bins);
  if (all.x.empty()) return chart;
  for (size_t m = 0; m < modes; ++m) {
    Series bars{
        .name = modes > 1 ? mode_name(m) : "", .x = all.x, .mark = Mark::bars, .colour = static_cast<int>(m % 6)};
    bars.y.assign(bins, 0);
    for (const auto value : of_mode(values, label, m))
      if (std::isfinite(value))
        ++bars.y[std::clamp(static_cast<int>((value - all.x.front()) / (all.x.back() - all.x.front()) * bins), 0,
                            bins - 1)];
    chart.series.push_back(bars);
  }
  return chart;
}

void add_pictures(Page& page, const RunFolder& run) {
  const auto range = range_of(run.mode_means);
  const auto fov = sky_width(run);
  std::vector<Figure> figures;
  for (size_t m = 0; m < run.mode_means.size(); ++m) {
    const auto medoid = number_at(run.modes->at("modes").at(m), {"medoid"});
    figures.push_back(Picture{.title = fmt::format("Mean of {}", mode_name(m)),
                              .image = run.mode_means[m],
                              .range = range,
                              .map = intensity_map(run),
                              .sky_width = fov});
    figures.push_back(Picture{.title = fmt::format("SD of {}", mode_name(m)),
                              .image = run.mode_sds[m],
                              .range = {0, range_of({run.mode_sds[m]}).high},
                              .map = Colormap::sd,
                              .sky_width = fov});
    if (medoid && *medoid >= 0 && *medoid < static_cast<double>(run.samples.size(0)))
      figures.push_back(Picture{.title = fmt::format("A sample of {}", mode_name(m)),
                                .caption = fmt::format("Chain {}, the nearest to all others of its mode.", *medoid),
                                .image = run.samples[static_cast<int64_t>(*medoid)],
                                .range = range,
                                .map = intensity_map(run),
                                .sky_width = fov});
  }
  page.figures(figures);
}

void add_mode_table(Page& page, const json& modes) {
  Table table{.header = {"Mode", "Samples", "Weight"}, .numbers = true};
  std::vector<std::string> terms;
  if (!modes.empty() && modes[0].contains("chi2") && modes[0]["chi2"].is_object())
    for (const auto& [term, value] : modes[0]["chi2"].items()) terms.push_back(term);
  for (const auto& term : terms) table.header.push_back("chi2 of " + term);
  for (size_t m = 0; m < modes.size(); ++m) {
    const auto weight = number_at(modes[m], {"weight"}), error = number_at(modes[m], {"weight_error"});
    std::vector<Cell> row{mode_name(m), text_at(modes[m], {"samples"}),
                          fmt::format("{:.3f} +- {:.3f}", weight.value_or(NAN), error.value_or(NAN))};
    for (const auto& term : terms) row.push_back(format_number(number_at(modes[m], {"chi2", term}).value_or(NAN)));
    table.rows.push_back(row);
  }
  page.table(table);
}

bool by_odds(const json& found) { return text_at(found, {"weights", "by"}) == "odds"; }

std::string about_weights(const json& found) {
  if (by_odds(found))
    return "A weight is the posterior's: the odds of the modes from the posterior's score, by Bennett's acceptance "
           "ratio. How many chains came to a mode does not count; the run's mean, SD and intervals are weighted "
           "accordingly.";
  const auto why = text_at(found, {"weights", "why"});
  return "A weight is the share of the samples, with its binomial standard error: it is the posterior's only as far as "
         "the chains came to each mode as often as the posterior does." +
         (why.empty() ? "" : " The posterior's own odds are not used: " + why + ".");
}

/// Log-odds and what speaks for or against them.
void add_odds(Page& page, const json& found) {
  if (!found.contains("weights") || !found["weights"].contains("pairs") || !found["weights"]["pairs"].is_array())
    return;
  Table table{.header = {"Log-odds", "Estimate (nats)", "Work SD", "Gap", "Effective samples", "Quadrature error",
                         "Closed loops", "Map", "Trusted"},
              .numbers = true};
  for (const auto& pair : found["weights"]["pairs"]) {
    const auto value = [&](const char* key) { return format_number(number_at(pair, {key}).value_or(NAN)); };
    const auto sd = list_at(pair, {"work_sd"});
    table.rows.push_back(
        {fmt::format("mode {} against mode {}", text_at(pair, {"mode"}), text_at(found, {"weights", "reference"})),
         fmt::format("{:+.2f} +- {:.2f}", number_at(pair, {"log_odds"}).value_or(NAN),
                     number_at(pair, {"error"}).value_or(NAN)),
         sd.size() == 2 ? fmt::format("{}, {}", format_number(sd[0]), format_number(sd[1])) : "", value("gap"),
         value("effective_samples"), value("quadrature_error"), value("closed_loop_rms"), text_at(pair, {"map"}),
         text_at(pair, {"trusted"}) == "true" ? "yes" : "no: " + text_at(pair, {"doubt"})});
  }
  page.details("How the odds were found", [&](Page& p) {
    p.text(
        "Samples of one mode are moved onto the other and the work is integrated along the score. Gap: how far "
        "forward and backward works disagree, 0 at best. Closed loops: their RMS, 0 for a score that is a gradient.");
    p.table(table);
  });
}

std::vector<Figure> crowd_charts(const RunFolder& run) {
  const auto& found = *run.modes;
  const auto label = list_at(found, {"per_sample", "label"});
  const auto count = run.mode_means.size();
  std::vector<Figure> figures;
  const auto x = list_at(found, {"map", "x"}), y = list_at(found, {"map", "y"});
  if (!x.empty() && x.size() == y.size() && x.size() == label.size()) {
    Chart map{.title = "Map of the samples",
              .x = {.label = "t-SNE 1"},
              .y = {.label = "t-SNE 2"},
              .width = 400,
              .square = true};
    for (size_t m = 0; m < count; ++m)
      map.series.push_back({.name = mode_name(m),
                            .x = of_mode(x, label, m),
                            .y = of_mode(y, label, m),
                            .mark = Mark::points,
                            .colour = static_cast<int>(m % 6)});
    figures.push_back(Plot{map, fmt::format("t-SNE, perplexity {}: near samples stay near; distances between heaps and "
                                            "their sizes mean nothing. The modes were not found on this map.",
                                            format_number(number_at(found, {"map", "perplexity"}).value_or(NAN)))});
  }
  if (found.contains("per_sample") && found["per_sample"].contains("chi2") && found["per_sample"]["chi2"].is_object())
    for (const auto& [term, values] : found["per_sample"]["chi2"].items())
      figures.push_back(Plot{
          histograms("chi2 of " + term, "chi2 per datum", list_at(found, {"per_sample", "chi2", term}), label, count),
          "1 where the data are explained to their noise."});
  return figures;
}

struct Feature {
  const char *key, *title, *unit, *meaning;
};
const std::vector<Feature> features{
    {"diameter", "Diameter", "\u00b5as", "Twice the mean distance of the ridge from the centre."},
    {"width", "Width", "\u00b5as", "Full width at half maximum across the ridge, the blur taken off."},
    {"orientation", "Orientation", "degrees E of N", "Where along the ring its light is; circular mean and intervals."},
    {"asymmetry", "Asymmetry", "A", "0 for an even ring, 0.5 for a brightness of 1 + cos, 1 for a point."},
    {"central_contrast", "Central contrast", "", "Brightness in the middle over that of the ridge."}};

std::string interval_text(const json& feature, const char* key) {
  const auto ends = list_at(feature, {key});
  return ends.size() == 2 ? fmt::format("{} to {}", format_number(ends[0]), format_number(ends[1])) : "";
}

void add_ring_table(Page& page, const json& ring) {
  Table table{.header = {"Feature", "Mean", "SD", "68 %", "95 %", "Meaning"}};
  for (const auto& [key, title, unit, meaning] : features) {
    if (!ring.contains(key)) continue;
    table.rows.push_back({*unit ? fmt::format("{} ({})", title, unit) : title,
                          format_number(number_at(ring, {key, "mean"}).value_or(NAN)),
                          format_number(number_at(ring, {key, "sd"}).value_or(NAN)),
                          interval_text(ring[key], "interval_68"), interval_text(ring[key], "interval_95"), meaning});
  }
  if (!table.rows.empty()) page.table(table);
}

std::string about_left_out(const json& found) {
  const auto left_out = list_at(found, {"left_out", "samples"});
  if (left_out.empty()) return "";
  return fmt::format(
      " {} of {} samples are not among them: their chi2 is above {:.2f} a datum, which no draw of the posterior has.",
      left_out.size(), text_at(found, {"left_out", "of"}), number_at(found, {"left_out", "chi2_above"}).value_or(NAN));
}

}  // namespace

void add_modes(Page& page, const RunFolder& run) {
  if (!run.modes || run.mode_means.empty()) return;
  const auto& modes = run.modes->at("modes");
  const bool aligned = text_at(*run.modes, {"align"}) == "shift";
  page.section("Modes", number_at(*run.modes, {"samples"}).value_or(0) < 1
                            ? ""
                            : fmt::format("{} samples in {} mode{}.{}", text_at(*run.modes, {"samples"}), modes.size(),
                                          modes.size() == 1 ? "" : "s",
                                          run.modes->value("too_few_to_tell", json()) == json(true)
                                              ? " They are too few to tell modes apart."
                                              : "") +
                                  about_left_out(*run.modes));
  page.text((aligned ? "Means and SDs here are of samples moved onto one another by whole pixels: the data do not fix "
                       "the position, and without that the mean is blurred. "
                     : "") +
            about_weights(*run.modes));
  add_mode_table(page, modes);
  add_odds(page, *run.modes);
  add_pictures(page, run);
  page.figures(crowd_charts(run));
}

void add_ring(Page& page, const RunFolder& run) {
  const auto ring = run.summary.find("ring");
  if (!run.ring || ring == run.summary.end() || !ring->is_object()) return;
  page.section("The ring", fmt::format("{} of {} samples show a ring; measured after a blur of {} \u00b5as.",
                                       text_at(*ring, {"with_ring"}), text_at(*ring, {"samples"}),
                                       format_number(number_at(*ring, {"blur_uas"}).value_or(NAN))));
  add_ring_table(page, *ring);
  const auto by_mode = ring->find("by_mode");
  if (by_mode != ring->end() && by_mode->is_array() && by_mode->size() > 1)
    for (size_t m = 0; m < by_mode->size(); ++m)
      page.details(fmt::format("The ring of {}", mode_name(m)), [&](Page& p) { add_ring_table(p, (*by_mode)[m]); });
  const auto mode = run.ring->find("mode");
  if (mode == run.ring->end()) return;
  auto label = mode->second;  // counted from 1 in the file
  for (auto& value : label) value -= 1;
  std::vector<Figure> figures;
  for (const auto& [key, title, unit, meaning] : features)
    if (const auto column = run.ring->find(key); column != run.ring->end())
      figures.push_back(
          Plot{histograms(title, *unit ? unit : title, column->second, label, run.mode_means.size()), ""});
  page.figures(figures);
}

}  // namespace penumbra::report
