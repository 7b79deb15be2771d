#include "app/train_log.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/error.h"
#include "io/file.h"

namespace penumbra::app {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr int64_t history_columns = 7;

// Columns of a row of `validation_`.
enum { step_column, ema_column, low_column, high_column, loss_column, psnr_column, validation_columns };

bool has_levels(const std::vector<double>& row) { return row[high_column] > 0; }

Tensor as_tensor(const Rows& rows, int64_t columns) {
  auto table = at::empty({static_cast<int64_t>(rows.size()), columns}, at::TensorOptions().dtype(at::kDouble));
  for (size_t i = 0; i < rows.size(); ++i)
    table[static_cast<int64_t>(i)].copy_(at::tensor(rows[i], at::TensorOptions().dtype(at::kDouble)));
  return table;
}

Rows as_rows(const Tensor& table) {
  Rows rows;
  const auto numbers = table.to(at::kDouble).contiguous();
  const auto* p = numbers.data_ptr<double>();
  for (int64_t i = 0; i < numbers.size(0); ++i, p += numbers.size(1)) rows.emplace_back(p, p + numbers.size(1));
  return rows;
}

/// Of a network that reconstructs.
std::string verdict_of(const nlohmann::json& band) {
  const double before = band.value("loss_at_start", 0.0), after = band.value("loss", 0.0);
  const auto text = fmt::format(
      "On held-out images the averaged network's reconstructions have a PSNR of {:.2f} dB; their mean squared error is "
      "{:.3g}, it was {:.3g} at the start.",
      band.value("psnr", 0.0), after, before);
  // Not "after >= before": NaN is no better either.
  return after < before ? text : text + " That is no better than gradient descent alone.";
}

}  // namespace

void TrainLog::add(const Row& row) {
  history_.push_back({static_cast<double>(row.step), static_cast<double>(row.images), row.seconds, row.loss,
                      row.learning_rate, row.gradient_norm, row.images_per_second});
}

void TrainLog::add(int64_t step, training::Trainer::Which which, const std::vector<training::BandQuality>& bands) {
  for (const auto& band : bands)
    validation_.push_back({static_cast<double>(step), which == training::Trainer::Which::ema ? 1.0 : 0.0,
                           band.sigma_low, band.sigma_high, band.loss, band.psnr});
}

void TrainLog::write(const std::filesystem::path& folder) const {
  std::string text = "step,images,seconds,loss,learning_rate,gradient_norm,images_per_second\n";
  for (const auto& row : history_)
    text += fmt::format("{:.0f},{:.0f},{:.3f},{:.6g},{:.6g},{:.6g},{:.1f}\n", row[0], row[1], row[2], row[3], row[4],
                        row[5], row[6]);
  io::write_file(folder / "history.csv", text);
  const bool levels = validation_.empty() || has_levels(validation_.front());
  text = fmt::format("step,weights,{}loss,psnr\n", levels ? "sigma_low,sigma_high," : "");
  for (const auto& row : validation_)
    text += fmt::format("{:.0f},{},{}{:.6g},{:.4f}\n", row[step_column], row[ema_column] > 0 ? "ema" : "raw",
                        levels ? fmt::format("{:.6g},{:.6g},", row[low_column], row[high_column]) : "",
                        row[loss_column], row[psnr_column]);
  io::write_file(folder / "validation.csv", text);
}

std::map<std::string, Tensor> TrainLog::state() const {
  return {{"history", as_tensor(history_, history_columns)},
          {"validation", as_tensor(validation_, validation_columns)}};
}

void TrainLog::restore(const std::map<std::string, Tensor>& state) {
  const auto rows = [&](const std::string& name, int64_t columns) {
    const auto found = state.find(name);
    if (found == state.end() || found->second.dim() != 2 || found->second.size(1) != columns)
      input_error("checkpoint: {}: expected a table of {} columns", name, columns);
    return as_rows(found->second);
  };
  history_ = rows("history", history_columns);
  validation_ = rows("validation", validation_columns);
}

nlohmann::json TrainLog::bands() const {
  auto table = nlohmann::json::array();
  if (validation_.empty()) return table;
  const double first = validation_.front()[step_column], last = validation_.back()[step_column];
  for (const auto& row : validation_) {
    if (row[step_column] != last || row[ema_column] == 0) continue;
    nlohmann::json band{{"step", static_cast<int64_t>(last)}, {"loss", row[loss_column]}, {"psnr", row[psnr_column]}};
    if (has_levels(row)) band["sigma"] = {row[low_column], row[high_column]};
    for (const auto& other : validation_) {
      if (other[low_column] != row[low_column]) continue;
      if (other[step_column] == last && other[ema_column] == 0) band["loss_raw"] = other[loss_column];
      if (other[step_column] == first && other[ema_column] == 0) band["loss_at_start"] = other[loss_column];
    }
    table.push_back(band);
  }
  return table;
}

std::string TrainLog::verdict() const {
  double start = 0, end = 0;
  std::string worse;
  const auto table = bands();
  if (table.empty()) return "The network has not been judged yet.";
  if (!table[0].contains("sigma")) return verdict_of(table[0]);
  for (const auto& band : table) {
    const double before = band.value("loss_at_start", 0.0), after = band.value("loss", 0.0);
    start += before / static_cast<double>(table.size());
    end += after / static_cast<double>(table.size());
    // Not "after >= before": NaN is no better either.
    if (!(after < before))
      worse += fmt::format("{}{:.3g} to {:.3g}", worse.empty() ? "" : ", ", band["sigma"][0].get<double>(),
                           band["sigma"][1].get<double>());
  }
  auto text = fmt::format(
      "On held-out images the averaged network's loss is {:.3g}, the mean over {} ranges of sigma; it was {:.3g} at "
      "the start.",
      end, table.size(), start);
  if (!worse.empty()) text += fmt::format(" At sigma {} it is no better than at the start.", worse);
  return text;
}

std::string TrainLog::lines() const {
  std::string text;
  for (const auto& band : bands()) {
    const auto sigma = band.value("sigma", std::vector<double>());
    text += sigma.empty() ? "  held-out images: " : fmt::format("  sigma {:>8.4g} to {:>8.4g}: ", sigma[0], sigma[1]);
    text += fmt::format("loss {:.4g} (raw {:.4g}, at the start {:.4g}), PSNR {:.2f} dB\n", band["loss"].get<double>(),
                        band.value("loss_raw", 0.0), band.value("loss_at_start", 0.0), band["psnr"].get<double>());
  }
  return text;
}

}  // namespace penumbra::app
