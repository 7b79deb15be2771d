#include "app/network_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "networks/header.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

/// The record is anybody's: whatever is there is shown, whatever its type.
std::string text_of(const json& value) {
  return printable(value.is_string() ? value.get<std::string>()
                                     : value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string number_of(const json& object, const char* key, const char* format) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number() ? "-" : fmt::format(fmt::runtime(format), found->get<double>());
}

std::string row(const std::string& key, const std::string& value) { return fmt::format("  {:<12} {}\n", key, value); }

std::string network_of(const NetworkHeader& header) {
  const auto options = Architecture(header.architecture, "header").to_json();
  auto text = options.at("kind").get<std::string>();
  if (options.contains("channel_mult"))
    text += fmt::format(", {} channels times {}", options.at("model_channels").get<int64_t>(),
                        fmt::join(options.at("channel_mult").get<std::vector<double>>(), ", "));
  if (options.contains("cascades")) text += fmt::format(", {} cascades", options.at("cascades").get<int64_t>());
  return text + ", output " + text_of(header.parameterisation.to_json());
}

std::string training_of(const json& training) {
  std::string text;
  for (const auto& [key, value] : training.items())
    if (key != "validation") text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(key), text_of(value));
  return text;
}

std::string band_of(const json& band) {
  std::string sigma = "held-out images";
  if (const auto range = band.find("sigma"); range != band.end() && range->is_array() && range->size() == 2 &&
                                             (*range)[0].is_number() && (*range)[1].is_number())
    sigma = fmt::format("{:.3g} to {:.3g}", (*range)[0].get<double>(), (*range)[1].get<double>());
  return fmt::format("{:<18} {:>10} {:>14} {:>10}", sigma, number_of(band, "loss", "{:.4g}"),
                     number_of(band, "loss_at_start", "{:.4g}"), number_of(band, "psnr", "{:.2f}"));
}

/// One line a band of noise levels; one in all where a network has none.
std::string validation_of(const json& bands) {
  const bool levels = !bands.empty() && bands[0].is_object() && bands[0].contains("sigma");
  auto text = row("validation", fmt::format("{:<18} {:>10} {:>14} {:>10}", levels ? "sigma" : "", "loss",
                                            "loss at start", "PSNR dB"));
  for (const auto& band : bands)
    if (band.is_object()) text += row("", band_of(band));
  return text;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return shown;
}

std::string network_text(const json& info) {
  const auto header = NetworkHeader::from_json(info.at("header"), "header");
  auto text = row("name", printable(header.name));
  text += row("images", fmt::format("{} (channels, height, width), pixels {:g} to {:g}", describe(header.image_shape),
                                    header.pixel_low, header.pixel_high));
  if (!header.reconstructs()) text += row("sigma", fmt::format("{:g} to {:g}", header.sigma_low, header.sigma_high));
  text += row("parameters", fmt::format("{} in {} tensors, stored as {}", info.at("parameters").get<int64_t>(),
                                        info.at("tensors").get<int64_t>(), text_of(info.at("types"))));
  text += row("network", network_of(header));
  if (header.pixel_sd) {
    const auto file = info.value("pixel_sd_file", "");
    text += row("pixel SD", fmt::format("{}, of {}{}", describe(header.pixel_sd->shape),
                                        printable(header.pixel_sd->from), file.empty() ? "" : ", in " + file));
  }
  for (const auto& [key, value] : header.record.items())
    if (key != "training") text += row(printable(key), text_of(value));
  const auto training = header.record.find("training");
  if (training == header.record.end() || !training->is_object()) return text;
  text += row("training", training_of(*training));
  if (const auto bands = training->find("validation"); bands != training->end() && bands->is_array())
    text += validation_of(*bands);
  return text;
}

}  // namespace penumbra::app
