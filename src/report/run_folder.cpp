#include "report/run_folder.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"

namespace penumbra::report {
namespace {

using nlohmann::json;

json read_json(const std::filesystem::path& path) {
  try {
    auto value = json::parse(io::read_file(path));
    if (!value.is_object()) input_error("{}: expected a JSON object, found {}", path.string(), value.type_name());
    return value;
  } catch (const json::parse_error& error) {
    input_error("{}: not valid JSON near byte {}", path.string(), error.byte);
  }
}

/// As float64 on the CPU, with the dimensions a report can show.
Tensor read_array(const std::filesystem::path& path, int64_t dimensions) {
  auto array = io::read_npy(path);
  if (array.is_complex()) input_error("{}: expected real numbers, found complex ones", path.string());
  if (array.dim() != dimensions || array.numel() == 0)
    input_error("{}: expected a filled array of {} dimensions, found {}", path.string(), dimensions,
                describe(array.sizes()));
  return array.to(at::kDouble);
}

Tensor read_array(const std::filesystem::path& path, at::IntArrayRef shape) {
  auto array = read_array(path, static_cast<int64_t>(shape.size()));
  if (array.sizes() != shape)
    input_error("{}: expected {} as samples.npy has it, found {}", path.string(), describe(shape),
                describe(array.sizes()));
  return array;
}

/// An image to look at, or nothing: measurements need not be images.
std::optional<Tensor> read_observation(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  auto array = io::read_npy(path);
  while (array.dim() > 3 && array.size(0) == 1) array = array.squeeze(0);
  if (array.dim() == 2) array = array.unsqueeze(0);
  if (array.dim() != 3 || array.numel() == 0 || array.size(1) < 8 || array.size(2) < 8) return std::nullopt;
  return array;
}

void read_answer(RunFolder& folder) {
  const auto& run = folder.path;
  folder.samples = read_array(run / "samples.npy", 4);
  const auto shape = folder.samples.sizes().slice(1).vec();
  folder.mean = read_array(run / "mean.npy", shape);
  folder.sd = read_array(run / "sd.npy", shape);
  folder.quantiles = read_array(run / "quantiles.npy", Shape{5, shape[0], shape[1], shape[2]});
  if (std::filesystem::exists(run / "truth.npy")) folder.truth = read_array(run / "truth.npy", shape);
  if (std::filesystem::exists(run / "data_share.npy")) folder.data_share = read_array(run / "data_share.npy", shape);
  if (const auto better = run / "extrapolated"; std::filesystem::exists(better / "sd.npy")) {
    folder.extrapolated_mean = read_array(better / "mean.npy", shape);
    folder.extrapolated_sd = read_array(better / "sd.npy", shape);
  }
  if (std::filesystem::exists(run / "metrics.json")) folder.metrics = read_json(run / "metrics.json");
}

/// The analysis of the samples, where there is one.
void read_modes(RunFolder& folder) {
  const auto path = folder.path / "modes.json";
  if (!std::filesystem::exists(path)) return;
  folder.modes = read_json(path);
  const auto list = folder.modes->find("modes");
  if (list == folder.modes->end() || !list->is_array())
    input_error("{}: modes: expected a list of modes", path.string());
  const auto shape = folder.mean.sizes().vec();
  if (const auto mean = folder.path / "modes" / "aligned-mean.npy"; std::filesystem::exists(mean)) {
    folder.aligned_mean = read_array(mean, shape);
    folder.aligned_sd = read_array(folder.path / "modes" / "aligned-sd.npy", shape);
    // Where the samples were aligned after the truth was compared, it is in another place than they are.
    const auto truth = folder.path / "modes" / "aligned-truth.npy";
    folder.truth = std::filesystem::exists(truth) ? std::optional(read_array(truth, shape)) : std::nullopt;
  }
  for (size_t m = 1; m <= list->size(); ++m) {
    if (!(*list)[m - 1].is_object()) input_error("{}: modes: expected objects", path.string());
    folder.mode_means.push_back(read_array(folder.path / "modes" / fmt::format("mean-{}.npy", m), shape));
    folder.mode_sds.push_back(read_array(folder.path / "modes" / fmt::format("sd-{}.npy", m), shape));
  }
  if (std::filesystem::exists(folder.path / "ring.csv")) folder.ring = numbers_of(read_csv(folder.path / "ring.csv"));
}

const json* find(const json& from, const std::vector<std::string>& keys) {
  const auto* at = &from;
  for (const auto& key : keys) {
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &(*at)[key];
  }
  return at->is_null() ? nullptr : at;
}

}  // namespace

RunFolder read_run(const std::filesystem::path& run) {
  if (!std::filesystem::is_directory(run)) input_error("{}: no such run folder", run.string());
  RunFolder folder;
  folder.path = run;
  folder.config = io::read_file(run / "config.yaml");
  folder.summary = read_json(run / "summary.json");
  const auto trace = read_csv(run / "trace.csv");
  folder.trace = numbers_of(trace);
  folder.trace_names = trace.names;
  folder.has_answer = text_at(folder.summary, {"outcome"}) == "finished" || !folder.summary.contains("outcome") ||
                      std::filesystem::exists(run / "samples.npy");
  if (folder.has_answer) {
    read_answer(folder);
    read_modes(folder);
  }
  if (const auto table = run / "visibilities.csv"; std::filesystem::exists(table))
    folder.visibilities = read_csv(table);
  folder.observation = read_observation(run / "inputs" / "observation.npy");
  return folder;
}

std::optional<double> number_at(const json& from, const std::vector<std::string>& keys) {
  const auto* at = find(from, keys);
  return at && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

std::string text_at(const json& from, const std::vector<std::string>& keys) {
  const auto* at = find(from, keys);
  if (!at) return {};
  // Text that is not UTF-8 must not stop the report.
  return at->is_string() ? at->get<std::string>() : at->dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace penumbra::report
