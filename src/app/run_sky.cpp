#include "app/run_sky.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"
#include "core/yaml.h"
#include "io/file.h"
#include "io/image.h"
#include "io/sky_image.h"

namespace penumbra::app {
namespace {

/// What each of `to` pixels covers of each of `from`, [to, from], in parts of the latter; both are centred.
Tensor overlaps(int64_t to, double to_size, int64_t from, double from_size) {
  auto parts = at::zeros({to, from}, at::kDouble);
  auto part = parts.accessor<double, 2>();
  const auto edge = [](int64_t i, int64_t count, double size) {
    return (static_cast<double>(i) - static_cast<double>(count) / 2) * size;
  };
  for (int64_t i = 0; i < to; ++i)
    for (int64_t j = 0; j < from; ++j) {
      const double begin = std::max(edge(i, to, to_size), edge(j, from, from_size));
      const double end = std::min(edge(i + 1, to, to_size), edge(j + 1, from, from_size));
      part[i][j] = std::max(end - begin, 0.0) / from_size;
    }
  return parts;
}

/// In the run's pixels and unit. What is outside of the run's field is lost.
Tensor in_run(const io::SkyImage& image, const RunSky& sky, const Shape& shape, const std::string& name) {
  const double pixel = sky.fov_uas * io::radians_per_microarcsecond / static_cast<double>(shape[2]);
  if (!(image.pixel_radians > 0))
    input_error("{}: CDELT1: expected the size of a pixel, to place the image in the run's field of {:g} uas", name,
                sky.fov_uas);
  const auto rows = overlaps(shape[1], pixel, image.pixels.size(0), image.pixel_radians);
  const auto columns = overlaps(shape[2], pixel, image.pixels.size(1), image.pixel_radians);
  return (rows.matmul(image.pixels).matmul(columns.t()) / sky.jy_per_unit + sky.black).unsqueeze(0);
}

const yaml::Value* member(const yaml::Value* section, const std::string& key) {
  const auto* entry = section ? section->find(key) : nullptr;
  return entry ? entry->value.get() : nullptr;
}

}  // namespace

std::optional<RunSky> sky_of_run(const std::filesystem::path& run) {
  const auto path = run / "config.yaml";
  if (!std::filesystem::exists(path)) return {};
  const auto config = yaml::parse(io::read_file(path), path.string());
  const auto* likelihood = member(config.get(), "likelihood");
  const auto* kind = member(likelihood, "kind");
  if (!kind || kind->text != "interferometry") return {};
  const auto number = [&](const std::string& key) -> std::optional<double> {
    const auto* value = member(likelihood, key);
    return value ? yaml::as_number(*value) : std::nullopt;
  };
  const auto fov = number("fov"), unit = number("jy_per_unit");
  if (!fov || !unit) return {};  // of a program that wrote less
  RunSky sky{.fov_uas = *fov, .jy_per_unit = *unit, .black = number("black").value_or(0), .data = {}};
  const auto* data = member(likelihood, "data");
  if (const auto* file = member(data, "file")) data = file;
  if (data) sky.data = data->text;  // a section without a file has none
  return sky;
}

Tensor read_run_truth(const std::filesystem::path& run, const std::filesystem::path& truth, const Shape& shape,
                      double low, double high) {
  const auto sky = sky_of_run(run);
  const auto bytes = io::read_file(truth);
  if (!sky || shape.size() != 3 || !io::looks_like_sky_image(bytes))
    return io::parse_image(bytes, truth.string(), low, high);
  const auto image = io::parse_sky_image(bytes, truth.string());
  // Without a unit it is taken to be the run's own, as `penumbra export` writes it where none is asked for.
  if (image.unit.empty()) return image.pixels.unsqueeze(0);
  if (!io::is_jansky_per_pixel(image.unit))
    input_error("{}: BUNIT: expected JY/PIXEL, found {}", truth.string(), image.unit);
  return in_run(image, *sky, shape, truth.string());
}

}  // namespace penumbra::app
