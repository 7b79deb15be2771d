/// penumbra info FILE: says what a data file, a configuration or a run is.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/json.h"
#include "app/kspace_info.h"
#include "app/network_text.h"
#include "app/observation_info.h"
#include "app/prior_option.h"
#include "app/run_files.h"
#include "app/sky_info.h"
#include "app/train_plan.h"
#include "app/wiring.h"
#include "core/error.h"
#include "io/file.h"
#include "io/image.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/torch_file.h"
#include "io/weights.h"
#include "networks/header.h"
#include "priors/network.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* prior_kind_name = "prior: a network and its weights";
constexpr const char* reconstruction_kind_name = "reconstruction network and its weights";

struct Options {
  fs::path path;
  bool json = false;
};

json describe_array(const Tensor& array) {
  json info{{"shape", array.sizes().vec()}, {"type", c10::toString(array.scalar_type())}};
  if (array.numel() == 0) return info;
  const auto values = array.is_complex() ? array.abs() : array.to(at::kDouble);
  info["finite"] = values.isfinite().all().item<bool>();
  info[array.is_complex() ? "smallest_magnitude" : "minimum"] = values.min().item<double>();
  info[array.is_complex() ? "largest_magnitude" : "maximum"] = values.max().item<double>();
  info["mean"] = values.to(at::kDouble).mean().item<double>();
  return info;
}

/// A complex array may be k-space: then it is described as that too.
json describe_npy(const fs::path& path) {
  const auto array = io::read_npy(path);
  auto info = describe_array(array);
  if (array.is_complex()) {
    try {
      info["as_kspace"] = describe_kspace(io::read_kspace(path));
    } catch (const InputError&) {
      // it is an array of another kind, described above
    }
  }
  info["kind"] = "array (NPY)";
  return info;
}

json describe_run(const fs::path& folder) {
  if (!fs::exists(folder / "config.yaml"))
    input_error("{}: expected a run's folder (with config.yaml), found another folder", folder.string());
  // Only a training run has a history.
  const bool training = fs::exists(folder / "history.csv");
  json info{{"kind", training ? "training run" : "run"}, {"complete", false}};
  info["can_resume"] = fs::exists(folder / "checkpoint");
  if (!fs::exists(folder / "summary.json")) return info;
  const auto summary = json::parse(io::read_file(folder / "summary.json"), nullptr, false);
  if (!summary.is_object()) input_error("{}: expected a JSON object", (folder / "summary.json").string());
  // A training that diverged can be tried again from its checkpoint; chains that diverged are at their end.
  info["complete"] = !training || summary.value("outcome", json()) == json("finished");
  for (const auto* key : {"program", "outcome", "verdict", "seed", "device", "problem", "sampler", "chains", "timings",
                          "data", "parameters", "steps", "images_seen", "seconds"})
    if (summary.contains(key)) info[key] = summary[key];
  return info;
}

json describe_training(const ConfigOptions& options) {
  const auto plan = load_train_plan(options);
  const auto& header = plan.header;
  json info{{"kind", "training configuration"},
            {"task", header.reconstructs() ? "reconstruction" : "denoising"},
            {"name", header.name},
            {"data", plan.source()},
            {"image_shape", header.image_shape},
            {"pixel_range", {header.pixel_low, header.pixel_high}},
            {"network", header.architecture},
            {"parameters", parameter_count(Architecture(header.architecture, "network").parameters())},
            {"steps", plan.trainer.steps},
            {"batch", plan.trainer.batch},
            {"seed", plan.trainer.seed}};
  if (!header.reconstructs()) info["sigma_range"] = {header.sigma_low, header.sigma_high};
  return info;
}

json describe_configuration(const fs::path& path) {
  ConfigOptions options;
  options.path = path;
  auto settings = Settings::from_file(path);
  const Placement placement{at::kFloat, at::kCPU};
  if (settings.is_section("training")) return describe_training(options);
  if (!settings.is_section("sampler") && !settings.is_section("likelihood")) {
    const auto prior = load_prior({.prior = path.string(), .usual_compute = "float32"}, placement);
    json info{{"kind", "prior"},
              {"image_shape", prior->image_shape()},
              {"sigma_range", {prior->sigma_range().low, prior->sigma_range().high}},
              {"density_known", prior->draw(1, {}).has_value()}};
    if (const auto range = prior->pixel_range()) info["pixel_range"] = {range->first, range->second};
    return info;
  }
  const auto problem = load_problem(options);
  json info{{"kind", "configuration"},
            {"prior", problem.prior_kind},
            {"likelihood", problem.likelihood_kind},
            {"sampler", problem.sampler_kind},
            {"image_shape", problem.posterior.image_shape()},
            {"steps", problem.plan.steps},
            {"chains", problem.plan.chains},
            {"step_size", problem.sampler->step_size()},
            {"seed", problem.seed}};
  if (const auto L_g = problem.posterior.likelihood->lipschitz()) info["lipschitz_likelihood"] = *L_g;
  return info;
}

/// A header that is right makes the weights a network; what is wrong with another one is said.
void describe_header(const fs::path& path, const io::Weights& weights, json& info) {
  info["header"] = weights.header;
  if (!weights.pixel_sd_file.empty()) info["pixel_sd_file"] = weights.pixel_sd_file;
  try {
    const auto header = NetworkHeader::from_json(weights.header, path.string(), weights.pixel_sd_file);
    const Architecture architecture(header.architecture, path.string());
    info["kind"] = header.reconstructs() ? reconstruction_kind_name : prior_kind_name;
    info["name"] = header.name;
    info["image_shape"] = header.image_shape;
    if (!header.reconstructs()) info["sigma_range"] = {header.sigma_low, header.sigma_high};
    info["pixel_range"] = {header.pixel_low, header.pixel_high};
  } catch (const InputError& error) {
    info["unusable"] = error.what();
  }
}

json describe_weights(const fs::path& path) {
  const auto weights = io::read_weights(path);
  json info{{"kind", "weights"}, {"tensors", weights.tensors.size()}};
  int64_t parameters = 0;
  std::map<std::string, int64_t> types;
  for (const auto& [name, tensor] : weights.tensors) {
    ++types[c10::toString(tensor.scalar_type())];
    if (tensor.is_floating_point()) parameters += tensor.numel();
  }
  info["parameters"] = parameters;
  info["types"] = types;
  if (!weights.chosen.empty()) info["chosen"] = weights.chosen;
  if (!weights.header.is_null()) describe_header(path, weights, info);
  if (!weights.passed_over.empty()) info["not_executed"] = weights.passed_over;
  return info;
}

/// By the first bytes, whatever the name.
bool looks_like_weights(const fs::path& path) {
  std::string head(64, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(stream.gcount()));
  return io::looks_like_safetensors(head) || io::looks_like_torch_file(head);
}

json describe_path(const fs::path& path) {
  if (fs::is_directory(path)) return describe_run(path);
  const auto extension = path.extension().string();
  json info;
  if (extension == ".npy") {
    info = describe_npy(path);
  } else if (extension == ".png" || extension == ".jpg" || extension == ".jpeg") {
    info = describe_array(io::read_image(path, 0, 1));
    info["kind"] = fmt::format("image ({}), black 0 and white 1", extension == ".png" ? "PNG" : "JPEG");
  } else if (extension == ".yaml" || extension == ".yml") {
    info = describe_configuration(path);
  } else if (extension == ".npz") {
    info = describe_npz(path);
  } else if (looks_like_weights(path)) {
    info = describe_weights(path);
  } else if (looks_like_scan(path)) {
    info = describe_scan(path);
  } else if (looks_like_sky(path)) {
    info = describe_sky(path);
  } else if (looks_like_array(path)) {
    info = describe_array_file(path);
  } else {
    if (!fs::exists(path)) input_error("{}: no such file", path.string());
    input_error(
        "{}: expected a run's folder, a file ending in .npy, .npz, .png, .jpg, .yaml, .cfl or .hdr, weights as "
        "safetensors or as torch.save writes them, k-space in HDF5, UVFITS, FITS or an array of stations",
        path.string());
  }
  return info;
}

/// A file, or, as everywhere else, the name of a prior that ships with the program.
fs::path file_or_prior(const fs::path& path) {
  if (fs::exists(path) || path.has_parent_path() || path.has_extension()) return path;
  try {
    return shipped_prior(path.string());
  } catch (const InputError&) {
    return path;  // the message is that of a file
  }
}

/// What the file itself says, a line each.
void print_notes(const json& notes) {
  for (const auto& [name, text] : notes.items())
    fmt::print("  {:<22} {}\n", printable(name), printable(text.get<std::string>()));
}

void print_rows(const json& info) {
  const auto kind = info["kind"].get<std::string>();
  if (kind == prior_kind_name || kind == reconstruction_kind_name) {
    fmt::print("{}", network_text(info));
    return;
  }
  for (const auto& [key, value] : info.items())
    if (key == "notes")
      print_notes(value);
    else if (key != "kind")
      fmt::print("  {:<22} {}\n", printable(key),
                 value.is_string() ? printable(value.get<std::string>()) : json_text(value, -1));
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command
      .add_option("FILE", options->path,
                  "NPY, PNG, JPEG, YAML configuration or prior, weights, k-space, visibilities (UVFITS, NPZ), FITS, an "
                  "array of stations, a run's folder, or the name of a shipped prior")
      ->required();
  command.add_flag("--json", options->json, "print JSON");
  return [options] {
    const auto info = describe_path(file_or_prior(options->path));
    if (options->json) {
      fmt::print("{}\n", json_text(info, 2));
    } else {
      fmt::print("{}: {}\n", options->path.string(), info["kind"].get<std::string>());
      print_rows(info);
    }
    return success;
  };
}

}  // namespace

extern const CommandEntry info{"info", "say what a file or a run is", declare};

}  // namespace penumbra::app
