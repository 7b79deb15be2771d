#include "report/run_answer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "report/number.h"

namespace penumbra::report {
namespace {

constexpr int64_t most_samples = 12;
constexpr int64_t smallest_side = 8;  ///< below it an image says less than a chart
enum Quantile { q005, q025, q500, q975, q995 };

bool is_image(const RunFolder& run) { return run.mean.size(1) >= smallest_side && run.mean.size(2) >= smallest_side; }

std::vector<double> numbers(const Tensor& x) {
  const auto flat = x.to(at::kDouble).contiguous().flatten();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

/// One range for the mean, the truth and the samples, so that their colours can be compared.
Range shared_range(const RunFolder& run) {
  std::vector<Tensor> images{run.mean, run.samples.slice(0, 0, most_samples)};
  if (run.truth) images.push_back(*run.truth);
  return range_of(images);
}

/// The mean of aligned samples and the truth beside it: samples that were left out may be far brighter than both.
Range answer_range(const RunFolder& run) {
  if (!run.aligned_mean) return shared_range(run);
  std::vector<Tensor> images{*run.aligned_mean};
  if (run.truth) images.push_back(*run.truth);
  return range_of(images);
}

Range from_zero(const Tensor& image) { return {0, range_of({image}).high}; }

std::string missing_note(const Tensor& image) {
  const auto count = (~image.isfinite()).sum().item<int64_t>();
  return count == 0 ? "" : fmt::format(" {} values are not finite numbers; NaN is magenta.", count);
}

/// A NaN in the data says that nothing was measured there.
Picture observed(const Tensor& observation) {
  Picture picture{.title = "Measurement", .nan = not_measured};
  const auto missing = observation.isnan().sum().item<int64_t>();
  const auto gaps =
      missing == 0 ? ""
                   : fmt::format(" Blue: the {} of {} pixels without a measurement.", missing, observation.numel());
  if (!observation.is_complex()) {
    picture.caption = "What was measured, in its own colour range." + gaps;
    picture.image = observation.to(at::kDouble);
    picture.range = range_of({observation});
    return picture;
  }
  const auto size = observation.abs().to(at::kDouble);
  const auto largest = std::max(range_of({size}, 0).high, 1e-300);
  picture.caption = "Absolute value of what was measured, as log10 of its share of the largest." + gaps;
  picture.image = (size / largest).clamp_min(1e-4).log10();
  picture.range = {-4, 0};
  return picture;
}

/// Of the aligned samples where the data leave the position free: evaluate moved the truth onto their mean.
std::vector<Figure> against_truth(const RunFolder& run) {
  std::vector<Figure> figures;
  const auto error = run.aligned_mean.value_or(run.mean) - *run.truth;
  figures.push_back(Picture{"Truth", "Known here because the run was evaluated against it.", *run.truth,
                            answer_range(run), intensity_map(run)});
  figures.push_back(Picture{"Error",
                            (has_spread(run) ? "Mean minus truth." : "Image minus truth.") + missing_note(error), error,
                            symmetric_range(error), Colormap::diverging});
  if (!has_spread(run)) return figures;
  const auto outside = (error.abs() > 3 * run.aligned_sd.value_or(run.sd)).to(at::kDouble);
  const auto anywhere = outside.amax(0);  // over the channels
  figures.push_back(Picture{"Error beyond 3 SD",
                            fmt::format("Light where the truth is more than 3 SD from the mean: {} % of the values. "
                                        "Honest uncertainty leaves few and scatters them.",
                                        format_number(100 * outside.mean().item<double>())),
                            anywhere, Range{0, 1}, Colormap::ember, broken, false});
  return figures;
}

/// Pictures of the sky carry their scale.
void show(Page& page, std::vector<Figure> figures, const RunFolder& run, Size size = Size::medium) {
  for (auto& figure : figures)
    if (auto* picture = std::get_if<Picture>(&figure)) picture->sky_width = sky_width(run);
  page.figures(figures, size);
}

std::string shown_percent(const std::optional<double>& share) {
  return share ? format_number(100 * *share, 2) + " %" : "";
}

/// x against its place along a row, or along all values of a tiny problem.
Chart band_chart(const std::string& title, const std::string& x_label) {
  return {.title = title, .x = {.label = x_label}, .y = {.label = "value"}};
}

void fill_line(Chart& chart, const std::string& name, const Tensor& values) {
  std::vector<double> place(values.numel());
  for (size_t i = 0; i < place.size(); ++i) place[i] = static_cast<double>(i);
  chart.series.push_back({.name = name, .x = place, .y = numbers(values), .colour = 0});
}

void fill_band(Chart& chart, const Tensor& mean, const Tensor& low, const Tensor& high,
               const std::string& band = "95 % interval") {
  fill_line(chart, "posterior mean", mean);
  const auto& place = chart.series.back().x;
  chart.series.insert(chart.series.end() - 1,
                      {.name = band, .x = place, .low = numbers(low), .high = numbers(high), .colour = 0});
}

void fill_truth(Chart& chart, const Tensor& truth) {
  chart.series.push_back({.name = "truth", .x = chart.series[0].x, .y = numbers(truth), .colour = 1});
}

Plot marginal(const std::string& title, const Tensor& samples) {
  return {{.title = title,
           .x = {.label = "value"},
           .y = {.label = "count"},
           .series = {histogram("", numbers(samples), std::clamp<int>(samples.numel() / 10, 8, 40))},
           .width = 400,
           .height = 350},
          ""};
}

Plot scatter(const RunFolder& run, const Tensor& samples) {
  Chart chart{
      .title = "Samples", .x = {.label = "first pixel"}, .y = {.label = "second pixel"}, .width = 400, .square = true};
  const auto mark = [&](const std::string& name, const Tensor& points, int colour) {
    chart.series.push_back({.name = name,
                            .x = numbers(points.select(1, 0)),
                            .y = numbers(points.select(1, 1)),
                            .mark = Mark::points,
                            .colour = colour});
  };
  mark("samples", samples, 0);
  mark("mean", run.mean.reshape({1, 2}), 4);
  if (run.truth) mark("truth", run.truth->reshape({1, 2}), 1);
  return {chart, fmt::format("The last iterate of each of {} chains.", samples.size(0))};
}

/// Without images: up to two values are shown as a law, more as values with their band.
void add_tiny_answer(Page& page, const RunFolder& run) {
  const auto samples = flat(run.samples);
  if (samples.size(1) == 1) {
    page.figures({marginal("The value", samples)}, Size::large);
  } else if (samples.size(1) == 2) {
    page.figures({scatter(run, samples), marginal("First pixel", samples.select(1, 0)),
                  marginal("Second pixel", samples.select(1, 1))});
  } else {
    auto chart = band_chart("Values", "index of the value");
    fill_band(chart, run.mean, run.quantiles[q025], run.quantiles[q975]);
    if (run.truth) fill_truth(chart, *run.truth);
    page.figures({Plot{chart, "Posterior mean and the central 95 % of the posterior, value by value."}}, Size::large);
  }
}

Picture mean_picture(const RunFolder& run, const std::string& title, const std::string& caption, const Tensor& mean,
                     const Range& range) {
  return {title, caption + missing_note(mean), mean, range, intensity_map(run)};
}

Picture sd_picture(const std::string& title, const std::string& caption, const Tensor& sd) {
  return {title,
          fmt::format("{}; {} on average.{}", caption, format_number(sd.mean().item<double>()), missing_note(sd)), sd,
          from_zero(sd), Colormap::sd};
}

std::vector<Figure> mean_and_sd(const RunFolder& run) {
  if (!has_spread(run)) {
    const auto of = run.samples.size(0) == 1 ? "The method's one image; it says nothing of its uncertainty."
                                             : "The mean of the images from different starts; how far they are apart "
                                               "is no uncertainty.";
    return {mean_picture(run, "Image", of, run.mean, shared_range(run))};
  }
  return {mean_picture(run, "Posterior mean", "The best single image in the mean square sense.", run.mean,
                       shared_range(run)),
          sd_picture("Standard deviation", "How far the posterior strays from the mean at each pixel", run.sd)};
}

std::vector<Figure> intervals(const RunFolder& run) {
  const auto width = run.quantiles[q975] - run.quantiles[q025];
  const auto bound = [&](const std::string& which, const std::string& side, Quantile quantile) {
    return Picture{"95 % interval, " + which, fmt::format("The value is {} this with 2.5 % probability.", side),
                   run.quantiles[quantile], shared_range(run), intensity_map(run)};
  };
  return {Picture{"95 % interval, width", "Upper minus lower bound of the central 95 %.", width, from_zero(width),
                  Colormap::sd},
          bound("lower", "below", q025), bound("upper", "above", q975)};
}

/// What is left of mean and SD when the samples' places, which the data do not fix, are taken out of them.
void add_aligned_answer(Page& page, const RunFolder& run) {
  page.text(
      "The data do not fix where in the field the source is: the samples were moved onto one another, with the light "
      "of their mean in the middle.");
  std::vector<Figure> figures{
      mean_picture(run, "Mean, samples aligned", "The image that the samples have in common, wherever they put it.",
                   *run.aligned_mean, answer_range(run)),
      sd_picture("SD, samples aligned", "What is uncertain of the image itself", *run.aligned_sd)};
  if (run.observation) figures.insert(figures.begin(), observed(*run.observation));
  show(page, figures, run);
  if (run.truth) show(page, against_truth(run), run);
  page.details("The samples where they are: their places blur the mean and widen the SD", [&](Page& p) {
    show(p, mean_and_sd(run), run);
    show(p, intervals(run), run);
  });
}

}  // namespace

bool has_spread(const RunFolder& run) { return text_at(run.summary, {"sampler", "random"}) != "false"; }

Colormap intensity_map(const RunFolder& run) {
  const auto likelihood = text_at(run.summary, {"problem", "likelihood"});
  for (const auto* word : {"visibilit", "closure", "interferom", "eht"})
    if (likelihood.find(word) != std::string::npos) return Colormap::ember;
  return Colormap::gray;
}

double sky_width(const RunFolder& run) { return number_at(run.summary, {"ring", "fov_uas"}).value_or(0); }

void add_answer(Page& page, const RunFolder& run) {
  page.section("The answer");
  if (!is_image(run)) return add_tiny_answer(page, run);
  const auto range = answer_range(run);
  const auto of = run.aligned_mean ? "mean" : has_spread(run) ? "mean, the samples and the bounds" : "images";
  // A mean by itself has its scale below it.
  if (run.truth || !run.aligned_mean)
    page.text(
        fmt::format("The {}{} share one colour range, {} to {} (the central 99.8 % of their values; what lies outside "
                    "takes the end's colour). Each other picture has its own.",
                    of, run.truth ? " and the truth" : "", format_number(range.low), format_number(range.high)));
  if (run.aligned_mean) return add_aligned_answer(page, run);
  auto figures = mean_and_sd(run);
  if (run.observation) figures.insert(figures.begin(), observed(*run.observation));
  show(page, figures, run);
  if (run.truth) show(page, against_truth(run), run);
  if (has_spread(run)) show(page, intervals(run), run);
}

void add_data_share(Page& page, const RunFolder& run) {
  const auto about = run.summary.value("data_share", nlohmann::json::object());
  if (!run.data_share) {
    if (const auto why = text_at(about, {"why_not"}); !why.empty())
      page.details("What the data decided", [&](Page& p) { p.text("No map: " + why + "."); });
    return;
  }
  page.section(
      "What the data decided",
      "The share of the prior's standard deviation that the data removed, 1 - SD / prior's SD. Near 1 the data "
      "fix the pixel; near 0 what is seen there comes from the prior alone.");
  const auto& share = *run.data_share;
  auto text = fmt::format("Half of the pixels are above {}. The prior's SD is from: {}.",
                          shown_percent(number_at(about, {"median"})), text_at(about, {"prior_sd_from"}));
  if (text_at(about, {"samples"}) == "aligned") text += " The SD is that of the aligned samples.";
  if (const auto wider = number_at(about, {"wider_than_prior"}).value_or(0); wider > 0)
    text += fmt::format(
        " {} of them have an SD above the prior's and count as 0: by Monte Carlo error, by the step "
        "size, or because the data contradict the prior.",
        shown_percent(wider));
  if (!is_image(run)) {
    page.text(text);
    return;
  }
  show(page,
       {Picture{"What the data decided", text, share, Range{0, 1}, Colormap::ember, not_measured},
        Picture{"What they left open", "The rest: the standard deviation as a share of the prior's, at most 1.",
                1 - share, Range{0, 1}, Colormap::sd, not_measured}},
       run);
}

void add_extrapolation(Page& page, const RunFolder& run) {
  if (!run.extrapolated_sd) return;
  const auto at = [&](const std::string& key) { return number_at(run.summary, {"extrapolation", key}); };
  const auto shown = [](const std::optional<double>& value) { return value ? format_number(*value, 3) : "?"; };
  page.section("Without the step's bias",
               "The run was repeated with half of its step size; twice the second result less the first is free of the "
               "error that grows with the step. Its Monte Carlo error is about twice the run's own.");
  auto text = fmt::format("Medians over the pixels: the SD is {} times the run's, the mean moves by {} SD",
                          shown(at("sd_factor")), shown(at("mean_change_in_sd")));
  if (at("mean_error_in_sd")) text += fmt::format(", known to {} SD", shown(at("mean_error_in_sd")));
  page.text(text + ".");
  if (!is_image(run)) return;
  const auto change = *run.extrapolated_mean - run.mean;
  show(page,
       {Picture{"Mean, extrapolated", "In the colours of the run's mean.", *run.extrapolated_mean, shared_range(run),
                intensity_map(run)},
        Picture{"Its change", "Extrapolated minus the run's mean.", change, symmetric_range(change),
                Colormap::diverging},
        Picture{"SD, extrapolated", "In the colours of the run's SD.", *run.extrapolated_sd, from_zero(run.sd),
                Colormap::sd}},
       run);
}

void add_profile(Page& page, const RunFolder& run) {
  if (!is_image(run)) return;
  const auto row = run.mean.size(1) / 2;
  page.section("A row through the centre",
               fmt::format("Row {} of {}, counted from the top and from 0.", row, run.mean.size(1)));
  std::vector<Figure> figures;
  for (int64_t channel = 0; channel < std::min<int64_t>(run.mean.size(0), 4); ++channel) {
    const auto line = [&](const Tensor& image) { return image[channel][row]; };
    auto chart =
        band_chart(run.mean.size(0) == 1 ? fmt::format("Row {}", row) : fmt::format("Row {}, channel {}", row, channel),
                   "column (pixels)");
    if (run.mean.size(0) == 1) chart.width = 960;
    if (run.aligned_mean) {
      const auto mean = line(*run.aligned_mean), twice = 2 * line(*run.aligned_sd);
      fill_band(chart, mean, mean - twice, mean + twice, "2 SD");
    } else if (has_spread(run)) {
      fill_band(chart, line(run.mean), line(run.quantiles[q025]), line(run.quantiles[q975]));
    } else {
      fill_line(chart, "image", line(run.mean));
    }
    if (run.truth) fill_truth(chart, line(*run.truth));
    figures.push_back(Plot{chart, !has_spread(run) ? ""
                                  : run.aligned_mean
                                      ? "Of the aligned samples. Shaded: two standard deviations to each side."
                                      : "Shaded: the central 95 % of the posterior at each pixel on its own."});
  }
  page.figures(figures, figures.size() == 1 ? Size::full : Size::large);
}

void add_samples(Page& page, const RunFolder& run) {
  if (!is_image(run) || (!has_spread(run) && run.samples.size(0) == 1)) return;
  const auto chains = run.samples.size(0), shown = std::min(chains, most_samples);
  const auto shared = shared_range(run);
  page.section(has_spread(run) ? "Samples" : "Images from different starts",
               fmt::format("The last iterate of {} of {} chains, colours from {} to {}. {}", shown, chains,
                           format_number(shared.low), format_number(shared.high),
                           has_spread(run) ? "What all samples show, the data demand; what differs, they leave open."
                                           : "What differs, the method leaves to its start."));
  std::vector<Figure> figures;
  for (int64_t chain = 0; chain < shown; ++chain)
    figures.push_back(
        Picture{fmt::format("Chain {}", chain), "", run.samples[chain], shared, intensity_map(run), broken, false});
  show(page, figures, run, Size::small);
}

}  // namespace penumbra::report
