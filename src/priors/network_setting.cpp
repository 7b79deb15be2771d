/// `prior.kind: network`: a network from its file's header, or from what the configuration says in its place.
#include <fmt/ranges.h>
#include <unistd.h>

#include <limits>

#include "core/error.h"
#include "io/array_setting.h"
#include "io/weights.h"
#include "priors/architecture_file.h"
#include "priors/network.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double gibi = 1024.0 * 1024 * 1024;

/// In bytes; infinite for a GPU, which says itself what it cannot hold.
double memory_of(const at::Device& device) {
  if (!device.is_cpu()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
}

/// "12.weight", "12.bias".
bool is_numbered(const std::string& name) {
  const auto dot = name.find_first_not_of("0123456789");
  return dot != 0 && dot != name.npos && (name.substr(dot) == ".weight" || name.substr(dot) == ".bias");
}

/// Plain files of numbered convolutions are DnCNNs.
std::optional<json> recognise_dncnn(const std::map<std::string, Tensor>& tensors) {
  for (const auto& [name, tensor] : tensors)
    if (!is_numbered(name)) return std::nullopt;
  const auto first = tensors.find("0.weight");
  if (first == tensors.end() || first->second.dim() != 4) return std::nullopt;
  return json{{"kind", "dncnn"},
              {"in_channels", first->second.size(1)},
              {"model_channels", first->second.size(0)},
              {"depth", static_cast<int64_t>(tensors.size() / 2)}};
}

using Range = std::pair<double, double>;

/// Numbers low and high with bounds.low <= low, high <= bounds.high and high - low >= span.
Range range_setting(Settings& settings, const std::string& key, Range otherwise, Bounds bounds, double span) {
  const auto range = settings.numbers(key, {otherwise.first, otherwise.second});
  if (range.size() != 2 || !(range[0] >= bounds.low && range[1] <= bounds.high && range[1] - range[0] >= span))
    settings.fail(key, fmt::format("expected [low, high] within {:g} to {:g}, found {}", bounds.low, bounds.high,
                                   fmt::join(range, ", ")));
  return {range[0], range[1]};
}

Range pixel_range_setting(Settings& settings, const std::string& key, Range otherwise) {
  return range_setting(settings, key, otherwise, {-largest_pixel, largest_pixel}, smallest_pixel_span);
}

/// What the configuration or the architecture's file says.
Shape image_shape_of(Settings& settings, const Architecture& architecture, const json& options) {
  if (settings.has("image_shape")) return io::image_shape_setting(settings);
  const auto size = options.value("image_size", json());
  if (!size.is_number_integer())
    settings.fail("image_shape", "expected [channels, height, width]: neither file says the size of the images");
  if (!(size.get<double>() >= 1 && size.get<double>() <= static_cast<double>(largest_extent)))
    settings.fail("arch", fmt::format("image_size: expected 1 to {}, found {}", largest_extent, size.dump()));
  return {architecture.channels(), size.get<int64_t>(), size.get<int64_t>()};
}

/// What the configuration says of a file that has no header: a checkpoint of the official code, a DnCNN.
NetworkHeader header_from_settings(Settings& settings, const std::map<std::string, Tensor>& tensors,
                                   const fs::path& file) {
  NetworkHeader header;
  header.name = file.stem().string();
  auto said_in = file;
  if (settings.has("arch")) {
    said_in = settings.file("arch");
    std::vector<fs::path> bases;
    header.architecture = read_architecture(said_in, bases);
    for (const auto& base : bases) settings.note_file(base);
  } else if (auto dncnn = recognise_dncnn(tensors)) {
    header.architecture = std::move(*dncnn);
  } else {
    input_error(
        "{}: the file does not say its architecture; expected a JSON or YAML file of options (prior.arch, --arch)",
        file.string());
  }
  if (!header.architecture.contains("kind")) {
    header.architecture["kind"] = "unet";
    // The official default differs between its versions; the file itself tells.
    if (!header.architecture.contains("use_embed"))
      header.architecture["use_embed"] = tensors.contains("auxil_embed.0.weight");
  }
  const Architecture architecture(header.architecture, said_in.string());
  const auto options = architecture.to_json();
  if (options.at("kind").get<std::string>() == "varnet")
    settings.fail(
        "arch", fmt::format("{}: a reconstruction network, not a denoiser; expected unet or dncnn", said_in.string()));
  const bool dncnn = options.at("kind").get<std::string>() == "dncnn";
  const bool timestep = options.value("network_mode", "sigma") == "timestep";
  const auto kind = settings.choice("parameterisation", {"score", "plain", "karras", "noise"},
                                    dncnn      ? "noise"
                                    : timestep ? "plain"
                                               : "score");
  header.parameterisation = Parameterisation::from_json(
      {{"kind", kind}, {"sigma_data", settings.number("sigma_data", 0.5, positive)}}, "prior");
  if (dncnn && !settings.has("sigma_range"))
    settings.fail("sigma_range",
                  "expected [low, high]: a DnCNN knows one noise level, and its file does not say which");
  std::tie(header.sigma_low, header.sigma_high) =
      range_setting(settings, "sigma_range", {1e-6, 1e6}, {smallest_sigma, largest_sigma}, 0);
  std::tie(header.pixel_low, header.pixel_high) = pixel_range_setting(settings, "network_pixel_range", {-1, 1});
  header.image_shape = image_shape_of(settings, architecture, header.architecture);
  return header;
}

NetworkHeader header_from_file(const Settings& settings, const io::Weights& weights, const std::string& file) {
  for (const auto* key : {"arch", "sigma_range", "network_pixel_range", "parameterisation", "sigma_data"})
    if (settings.has(key)) settings.fail(key, fmt::format("{} says this itself; expected no such key", file));
  return NetworkHeader::from_json(weights.header, file, weights.pixel_sd_file);
}

/// A header's size is what the network was trained for; a configuration that states another is refused.
void require_fit(const NetworkHeader& header, const Architecture& architecture, Settings& settings,
                 const at::Device& device, const std::string& file) {
  const auto& shape = header.image_shape;
  if (shape.size() != 3 || shape[0] != architecture.channels())
    input_error("{}: expected images of {} channels, found {}", file, architecture.channels(), describe(shape));
  const auto factor = architecture.size_factor();
  if (shape[1] < factor || shape[2] < factor || shape[1] % factor != 0 || shape[2] % factor != 0)
    input_error("{}: image size {}: expected multiples of {} for this architecture", file, describe(shape), factor);
  // The least that one evaluation holds: an image's features before and after a layer.
  const double needed = 2.0 * 4 * static_cast<double>(architecture.width() * shape[1] * shape[2]);
  if (const auto memory = memory_of(device); needed > memory)
    input_error("{}: image size {}: one evaluation takes more than {:.0f} GiB, the machine has {:.0f}", file,
                describe(shape), needed / gibi, memory / gibi);
  if (settings.has("image_shape")) {
    const auto asked = io::image_shape_setting(settings);
    if (asked != shape)
      settings.fail("image_shape", fmt::format("expected {}, on which {} was trained, found {}", describe(shape), file,
                                               describe(asked)));
  }
}

std::shared_ptr<const Score> make(Settings& settings, const Placement& placement) {
  if (settings.has("name") == settings.has("file"))
    settings.fail("file", "expected either a file of weights or the name of a prior that ships with Penumbra");
  const bool shipped = settings.has("name");
  const auto path = shipped ? shipped_prior(settings.text("name")) : settings.file("file");
  if (shipped) settings.note_file(path);
  const auto weights = io::read_weights(path);
  const auto header = weights.header.is_null() ? header_from_settings(settings, weights.tensors, path)
                                               : header_from_file(settings, weights, path.string());
  if (header.reconstructs())
    settings.fail(shipped ? "name" : "file",
                  fmt::format("{}: a reconstruction network, not a denoiser; expected sampler.kind: varnet with this "
                              "file, and a prior here",
                              path.string()));
  const Architecture architecture(header.architecture, path.string());
  require_fit(header, architecture, settings, placement.device, path.string());
  const auto word = settings.choice("compute", {"auto", "float32", "bfloat16", "float16"}, "auto");
  const auto compute = word == "float32"    ? Compute::float32
                       : word == "bfloat16" ? Compute::bfloat16
                       : word == "float16"  ? Compute::float16
                                            : Compute::fastest;
  const auto [low, high] = pixel_range_setting(settings, "pixel_range", {header.pixel_low, header.pixel_high});
  std::optional<int64_t> label;
  LoadedNetwork loaded{header, bind_network(header, weights.tensors, compute, placement.device, path.string()),
                       parameter_count(architecture.parameters()), weights.chosen};
  if (const auto classes = loaded.network.network->classes(); classes > 0)
    label = settings.integer("label", {0, static_cast<double>(classes - 1)});
  else if (settings.has("label"))
    settings.fail("label", fmt::format("expected no such key: {} knows no classes", path.string()));
  return std::make_shared<NetworkScore>(std::move(loaded), low, high, label);
}

}  // namespace

extern const PriorEntry network{"network", "score network: a shipped prior by name, or a file of weights", make};

}  // namespace penumbra
