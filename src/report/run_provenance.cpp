/// How to rerun it, and where the numbers and figures come from.
#include <fmt/format.h>

#include "report/number.h"
#include "report/run_course.h"

namespace penumbra::report {
namespace {

using Rows = std::vector<std::vector<Cell>>;

void add_row(Rows& rows, const std::string& what, const std::string& value) {
  if (!value.empty()) rows.push_back({what, value});
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string labelled(const std::string& label, const std::string& value) {
  return value.empty() ? "" : label + " " + value;
}

std::string shape_text(const nlohmann::json& shape) {
  if (!shape.is_array()) return {};
  std::string text;
  for (const auto& extent : shape) text += (text.empty() ? "" : " x ") + extent.dump();
  return text;
}

Rows provenance_rows(const RunFolder& run) {
  const auto at = [&](const std::string& part, const std::string& key) { return text_at(run.summary, {part, key}); };
  const auto figure = [&](const std::string& part, const std::string& key) {
    const auto value = number_at(run.summary, {part, key});
    return value ? format_number(*value) : std::string();
  };
  const auto problem = run.summary.value("problem", nlohmann::json::object());
  Rows rows;
  add_row(rows, "Program",
          joined({at("program", "name") + " " + at("program", "version"),
                  labelled("LibTorch", at("program", "libtorch"))}));
  add_row(rows, "Machine",
          joined({text_at(run.summary, {"device"}), labelled("threads:", text_at(run.summary, {"threads"}))}));
  add_row(rows, "Seed", text_at(run.summary, {"seed"}));
  add_row(
      rows, "Problem",
      joined({labelled("prior", at("problem", "prior")), labelled("likelihood", at("problem", "likelihood")),
              labelled("image",
                       shape_text(problem.is_object() ? problem.value("image_shape", nlohmann::json()) : problem)),
              labelled("data:", at("problem", "data_count")), labelled("noise SD", figure("problem", "noise_sd"))}));
  add_row(rows, "Sampler",
          joined({at("sampler", "kind"), labelled("steps:", at("sampler", "steps")),
                  labelled("step size", figure("sampler", "step_size")), at("sampler", "precision")}));
  add_row(rows, "Chains",
          joined({at("chains", "count"), labelled("recorded iterates:", at("chains", "records")),
                  labelled("from iteration", at("chains", "record_from")),
                  labelled("every", at("chains", "record_every"))}));
  const auto total = number_at(run.summary, {"timings", "total_s"});
  const auto each = figure("timings", "per_iteration_ms");
  add_row(rows, "Time",
          joined({total ? format_duration(*total) : "", each.empty() ? "" : each + " ms per iteration",
                  labelled("iterations:", at("timings", "iterations"))}));
  add_row(rows, "Started", text_at(run.summary, {"started"}));
  add_row(rows, "Finished", text_at(run.summary, {"finished"}));
  return rows;
}

}  // namespace

Badge outcome_badge(const RunFolder& run) {
  const auto outcome = text_at(run.summary, {"outcome"});
  if (outcome == "finished") return {Level::good, "finished"};
  if (outcome == "interrupted") return {Level::warning, "interrupted"};
  if (outcome != "diverged") return {Level::note, outcome.empty() ? "outcome not recorded" : outcome};
  const auto where = text_at(run.summary, {"diverged_at"});
  return {Level::bad, where.empty() ? "diverged" : "diverged at iteration " + where};
}

namespace {

/// What the configuration left open.
void add_derived(Page& page, const RunFolder& run) {
  const auto sampler = run.summary.value("sampler", nlohmann::json::object());
  if (!sampler.is_object() || !sampler.contains("derived") || !sampler["derived"].is_array()) return;
  Rows rows;
  for (const auto& one : sampler["derived"]) {
    const auto value = number_at(one, {"value"});
    rows.push_back({text_at(one, {"key"}), value ? format_number(*value) : "", text_at(one, {"why"})});
  }
  if (rows.empty()) return;
  page.text("The configuration left these to Penumbra:");
  page.table({{"key", "value", "because"}, rows});
}

}  // namespace

void add_provenance(Page& page, const RunFolder& run) {
  page.section("Run it again",
               "From the folder of this report; the configuration is fully resolved, so that the same "
               "program on the same kind of machine repeats the run.");
  page.code("penumbra sample config.yaml --out rerun\npenumbra report rerun\n");
  add_derived(page, run);
  page.details("config.yaml", [&](Page& p) { p.code(run.config); });
  page.section("Where it comes from");
  if (const auto rows = provenance_rows(run); !rows.empty()) page.table({{}, rows});
  page.text(
      "Every figure is drawn from the files beside this page and nothing else: the pictures from mean.npy, sd.npy, "
      "quantiles.npy and samples.npy at one image pixel per array value, the charts from trace.csv (long traces "
      "thinned "
      "to the extremes of neighbouring points), the numbers from summary.json and metrics.json. The saved PNG files "
      "hold colours, not values; compute with the arrays.");
}

}  // namespace penumbra::report
