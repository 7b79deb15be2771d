#include "report/training_folder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.h"
#include "io/file.h"

namespace penumbra::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json read_summary(const fs::path& path) {
  if (!fs::exists(path)) return json::object();
  auto summary = json::parse(io::read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!summary.is_object()) input_error("{}: expected a JSON object", path.string());
  return summary;
}

size_t column(const Csv& csv, const std::string& name) {
  const auto found = std::find(csv.names.begin(), csv.names.end(), name);
  if (found == csv.names.end()) input_error("{}: expected a column {}, found none", csv.path.string(), name);
  return found - csv.names.begin();
}

/// The curves are drawn from left to right.
void require_rising_steps(const Csv& csv) {
  const auto step = column(csv, "step");
  double before = -HUGE_VAL;
  for (size_t row = 0; row < csv.cells.size(); ++row) {
    const auto now = number_in(csv, row, step);
    if (!(now >= before) || !std::isfinite(now))
      input_error("{}:{}: step: expected a number not below the row before", csv.path.string(), csv.lines[row]);
    before = now;
  }
}

Columns read_history(const fs::path& path) {
  const auto csv = read_csv(path);
  column(csv, "loss");
  require_rising_steps(csv);
  auto columns = numbers_of(csv);
  columns["step"], columns["loss"];  // there, if empty, where no step was made
  return columns;
}

std::vector<ValidationCurve> read_validation(const fs::path& path) {
  if (!fs::exists(path)) return {};
  const auto csv = read_csv(path);
  const auto step = column(csv, "step"), weights = column(csv, "weights"), loss = column(csv, "loss");
  // A network that reconstructs is judged at no noise levels.
  const bool levels = std::find(csv.names.begin(), csv.names.end(), "sigma_low") != csv.names.end();
  const auto low = levels ? column(csv, "sigma_low") : 0, high = levels ? column(csv, "sigma_high") : 0;
  const auto psnr = std::find(csv.names.begin(), csv.names.end(), "psnr") - csv.names.begin();
  require_rising_steps(csv);
  std::map<std::tuple<double, double, bool>, ValidationCurve> curves;
  for (size_t row = 0; row < csv.cells.size(); ++row) {
    const auto& word = csv.cells[row][weights];
    if (word != "ema" && word != "raw")
      input_error("{}:{}: weights: expected raw or ema, found '{}'", path.string(), csv.lines[row], word);
    const auto from = levels ? number_in(csv, row, low) : 0, to = levels ? number_in(csv, row, high) : 0;
    auto& curve = curves[{from, to, word == "raw"}];
    curve.sigma_low = from;
    curve.sigma_high = to;
    curve.ema = word == "ema";
    curve.step.push_back(number_in(csv, row, step));
    curve.loss.push_back(number_in(csv, row, loss));
    curve.psnr.push_back(psnr < static_cast<int64_t>(csv.names.size()) ? number_in(csv, row, psnr) : NAN);
  }
  std::vector<ValidationCurve> list;
  for (auto& [key, curve] : curves) list.push_back(std::move(curve));
  return list;
}

std::vector<SampleGrid> find_samples(const fs::path& folder) {
  std::vector<SampleGrid> grids;
  if (!fs::is_directory(folder)) return grids;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().stem().string();
    if (!name.starts_with("step-") || entry.path().extension() != ".png") continue;
    int64_t step = 0;
    const auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), step);
    if (error == std::errc() && end == name.data() + name.size()) grids.push_back({step, entry.path()});
  }
  std::sort(grids.begin(), grids.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return grids;
}

}  // namespace

TrainingFolder read_training(const fs::path& folder) {
  if (!fs::is_directory(folder)) input_error("{}: no such folder of a training run", folder.string());
  TrainingFolder run;
  run.path = folder;
  if (fs::exists(folder / "config.yaml")) run.config = io::read_file(folder / "config.yaml");
  run.summary = read_summary(folder / "summary.json");
  run.history = read_history(folder / "history.csv");
  run.validation = read_validation(folder / "validation.csv");
  run.samples = find_samples(folder / "samples");
  return run;
}

}  // namespace penumbra::report
