#include "report/run_report.h"

#include <fmt/format.h>

#include "io/file.h"
#include "report/run_answer.h"
#include "report/run_course.h"
#include "report/run_modes.h"

namespace penumbra::report {
namespace {

int severity(Level level) { return static_cast<int>(level); }

/// The worst of the news colours the box.
Level overall(const std::vector<Badge>& badges) {
  auto worst = Level::good;
  for (const auto& badge : badges)
    if (severity(badge.level) > severity(worst)) worst = badge.level;
  return worst;
}

std::vector<Badge> badges(const RunFolder& run) {
  std::vector<Badge> row{outcome_badge(run)};
  if (run.summary.contains("verdicts") && run.summary["verdicts"].is_array())
    for (const auto& verdict : run.summary["verdicts"])
      if (const auto about = text_at(verdict, {"about"}); !about.empty())
        row.push_back({level_of(text_at(verdict, {"level"})), about});
  return row;
}

std::string size_text(const RunFolder& run) {
  if (!run.has_answer) return {};
  const auto shape = run.mean.sizes();
  const auto size = shape[0] == 1 ? fmt::format("{} x {} pixels", shape[1], shape[2])
                                  : fmt::format("{} channels of {} x {} pixels", shape[0], shape[1], shape[2]);
  return fmt::format("{}, {} chain{}", size, run.samples.size(0), run.samples.size(0) == 1 ? "" : "s");
}

std::string subtitle(const RunFolder& run) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() || part.empty() ? "" : ", ") + part; };
  for (const auto* part : {"likelihood", "prior"})
    if (const auto name = text_at(run.summary, {"problem", part}); !name.empty()) add(name + " " + part);
  add(size_text(run));
  return text;
}

}  // namespace

void write_run_report(const std::filesystem::path& run) {
  const auto folder = read_run(run);
  const auto name = std::filesystem::weakly_canonical(run).filename().string();
  Page page((has_spread(folder) ? "Posterior of " : "Image of ") + (name.empty() ? "a run" : name), subtitle(folder));
  const auto news = badges(folder);
  const auto sentence = text_at(folder.summary, {"verdict"});
  page.verdict(overall(news), sentence.empty() ? "The run's summary holds no verdict." : sentence, news);
  if (folder.has_answer) {
    add_answer(page, folder);
    add_data_share(page, folder);
    add_extrapolation(page, folder);
    add_modes(page, folder);
    add_ring(page, folder);
    add_profile(page, folder);
    add_data(page, folder);
    add_samples(page, folder);
  }
  add_traces(page, folder);
  add_diagnostics(page, folder);
  add_metrics(page, folder);
  add_provenance(page, folder);
  io::write_file(run / "report.html", page.html());
}

}  // namespace penumbra::report
