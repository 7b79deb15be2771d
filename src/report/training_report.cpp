#include "report/training_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "io/file.h"
#include "io/image.h"
#include "report/number.h"
#include "report/run_folder.h"
#include "report/training_course.h"

namespace penumbra::report {
namespace {

using nlohmann::json;

/// 12345678 as "12,345,678".
std::string with_commas(int64_t number) {
  const auto digits = fmt::format("{}", std::abs(number));
  std::string text = number < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string shown(const std::string& key, const json& value) {
  if (value.is_number_integer()) return with_commas(value.get<int64_t>());
  if (value.is_number() && key == "seconds") return format_duration(value.get<double>());
  if (value.is_number_float()) return format_number(value.get<double>(), 4);
  return text_at({{key, value}}, {key});
}

std::string words(std::string key) {
  if (key == "seconds") return "time";
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

/// An object's fields in one line: "folder: /data, train: 27,000".
std::string line_of(const json& object) {
  std::string line;
  for (const auto& [key, value] : object.items()) {
    const auto text = value.is_object() ? fmt::format("({})", line_of(value)) : shown(key, value);
    if (!text.empty()) line += (line.empty() ? "" : ", ") + words(key) + ": " + text;
  }
  return line;
}

std::string subtitle(const TrainingFolder& run) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() || part.empty() ? "" : ", ") + part; };
  const auto count = [&](const std::vector<std::string>& keys, const std::string& unit) {
    const auto number = number_at(run.summary, keys);
    return number ? with_commas(static_cast<int64_t>(*number)) + " " + unit : std::string();
  };
  if (run.summary.contains("architecture") && run.summary["architecture"].is_string())
    add(text_at(run.summary, {"architecture"}));
  else
    add(text_at(run.summary, {"architecture", "kind"}));
  add(count({"parameters"}, "parameters"));
  add(count({"data", "train"}, "images"));
  add(text_at(run.summary, {"device"}));
  return text;
}

Badge outcome(const TrainingFolder& run) {
  const auto word = text_at(run.summary, {"outcome"});
  const auto level = word == "finished" ? Level::good : word == "diverged" ? Level::bad : Level::note;
  return {level, word.empty() ? "under way" : word};
}

/// From the numbers alone, for a run whose summary says nothing.
std::string own_verdict(const TrainingFolder& run) {
  const auto curve = smooth(run.history.at("step"), run.history.at("loss"), 20);
  if (curve.middle.empty()) return "No step of this run has been recorded.";
  return fmt::format("After {} steps the training loss is {} (median of the last twentieth; {} at the beginning).",
                     with_commas(std::llround(run.history.at("step").back())), format_number(curve.middle.back()),
                     format_number(curve.middle.front()));
}

void add_verdict(Page& page, const TrainingFolder& run) {
  std::vector<Badge> badges{outcome(run)};
  if (!run.history.at("step").empty())
    badges.push_back({Level::note, with_commas(std::llround(run.history.at("step").back())) + " steps"});
  for (const auto& [badge, text] : validation_findings(run)) badges.push_back(badge);
  auto worst = Level::good;
  for (const auto& badge : badges)
    if (badge.level != Level::note) worst = std::max(worst, badge.level);
  if (badges.front().level == Level::note) worst = std::max(worst, Level::note);
  const auto sentence = text_at(run.summary, {"verdict"});
  page.verdict(worst, sentence.empty() ? own_verdict(run) : sentence, badges);
}

/// The first, the last and some in between.
std::vector<SampleGrid> spread(const std::vector<SampleGrid>& grids, size_t count) {
  if (grids.size() <= count) return grids;
  std::vector<SampleGrid> chosen;
  for (size_t i = 0; i < count; ++i) chosen.push_back(grids[i * (grids.size() - 1) / (count - 1)]);
  return chosen;
}

void add_samples(Page& page, const TrainingFolder& run) {
  if (run.samples.empty()) return;
  constexpr size_t most = 6;
  page.section("What it draws", "Samples of the network alone, from the same noise each time, as training went on.");
  std::vector<Figure> figures;
  for (const auto& [step, path] : spread(run.samples, most))
    figures.push_back(Picture{.title = "Step " + with_commas(step), .image = io::read_image(path, 0, 1), .bar = false});
  page.figures(figures, figures.size() > 2 ? Size::medium : Size::large);
  if (run.samples.size() > most)
    page.text(fmt::format("{} of {} grids; the others are in the folder samples.", most, run.samples.size()));
}

/// Every field of the summary that the page has not told yet.
void add_provenance(Page& page, const TrainingFolder& run) {
  page.section("Where it comes from");
  Table table;
  const std::set<std::string> told{"verdict", "verdicts", "outcome"};
  for (const auto& [key, value] : run.summary.items()) {
    if (told.contains(key)) continue;
    const auto text = value.is_object() ? line_of(value) : shown(key, value);
    if (!text.empty()) table.rows.push_back({words(key), text});
  }
  if (!table.rows.empty()) page.table(table);
  if (!run.config.empty()) page.details("config.yaml", [&](Page& p) { p.code(run.config); });
  page.text(
      "Every figure is drawn from the files beside this page and nothing else: the charts from history.csv and "
      "validation.csv, the pictures from samples, the numbers from summary.json.");
}

}  // namespace

void write_training_report(const std::filesystem::path& folder) {
  const auto run = read_training(folder);
  const auto name = std::filesystem::weakly_canonical(folder).filename().string();
  Page page("Training of " + (name.empty() ? "a network" : name), subtitle(run));
  add_verdict(page, run);
  add_history(page, run);
  add_validation(page, run);
  add_samples(page, run);
  add_provenance(page, run);
  io::write_file(folder / "report.html", page.html());
}

}  // namespace penumbra::report
