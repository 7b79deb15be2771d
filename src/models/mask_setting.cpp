/// `likelihood.mask`: a section with a kind, from the configuration to the points.
#include <ATen/ATen.h>

#include "core/error.h"
#include "io/kspace.h"
#include "io/npy.h"
#include "models/sampling_mask.h"

namespace penumbra {
namespace {

constexpr Bounds accelerations{1, 1000};

uint64_t seed_setting(Settings& settings) {
  return static_cast<uint64_t>(settings.integer("mask_seed", 0, not_negative));
}

Tensor radial(Settings& settings, int64_t height, int64_t width) {
  const auto lines = settings.integer("lines", {1, 65536});
  if (height % 2 != 0 || width % 2 != 0)
    settings.fail("kind", fmt::format("radial: expected even sizes, found {}x{}", height, width));
  return radial_mask(height, width, lines);
}

Tensor cartesian(Settings& settings, int64_t height, int64_t width) {
  const bool along_width = settings.choice("axis", {"width", "height"}, "width") == "width";
  const auto size = along_width ? width : height;
  const double acceleration = settings.number("acceleration", accelerations);
  const auto centre = std::lround(settings.number("centre_fraction", 0.08, {0, 1}) * static_cast<double>(size));
  const auto lines = std::lround(static_cast<double>(size) / acceleration);
  if (lines < 1 || centre > lines)
    settings.fail("centre_fraction", fmt::format("expected at most the {} of {} lines that acceleration {:g} leaves, "
                                                 "found {} lines at the centre",
                                                 lines, size, acceleration, centre));
  const auto chosen = random_lines(size, centre, acceleration, seed_setting(settings));
  return (along_width ? chosen.unsqueeze(0) : chosen.unsqueeze(1)).expand({height, width}).contiguous();
}

Tensor poisson_disc(Settings& settings, int64_t height, int64_t width) {
  PoissonDisc options;
  options.acceleration = settings.number("acceleration", accelerations);
  options.calibration = settings.integer("calibration", options.calibration, {0, 65536});
  options.variable_density = settings.flag("variable_density", options.variable_density);
  options.seed = seed_setting(settings);
  const auto points = static_cast<double>(height * width) / options.acceleration;
  const auto centre = std::min(options.calibration, height) * std::min(options.calibration, width);
  if (points < 1 || static_cast<double>(centre) > points)
    settings.fail("calibration", fmt::format("expected a square of at most the {:.0f} points that acceleration {:g} "
                                             "leaves, found {} points",
                                             points, options.acceleration, centre));
  return poisson_disc_mask(height, width, options);
}

/// Zeros and ones of [H, W], or of [W] for whole columns.
Tensor from_file(Settings& settings, int64_t height, int64_t width) {
  const auto path = io::kspace_file(settings, "file");
  auto mask = path.extension() == ".npy" ? io::read_npy(path) : io::read_kspace(path).samples.squeeze(0);
  if (mask.is_complex()) mask = at::real(mask);
  if (mask.dim() == 1 && mask.size(0) == width) mask = mask.unsqueeze(0).expand({height, width});
  if (mask.sizes() != at::IntArrayRef({height, width}))
    input_error("{}: mask: expected {}x{} or {} points, as the k-space, found {}", path.string(), height, width, width,
                describe(mask.sizes()));
  if (mask.ne(0).logical_and(mask.ne(1)).any().item<bool>())
    input_error("{}: mask: expected zeros and ones, found other numbers", path.string());
  return mask.to(at::kBool).contiguous();
}

}  // namespace

Tensor mask_setting(Settings settings, int64_t height, int64_t width, const Tensor& acquired) {
  const auto kind = settings.choice("kind", {"data", "radial", "cartesian", "poisson_disc", "file"}, "data");
  if (kind == "data" && !acquired.defined())
    settings.fail("kind", "data: there are no data yet; expected radial, cartesian, poisson_disc or file");
  const auto mask = kind == "data"        ? acquired
                    : kind == "radial"    ? radial(settings, height, width)
                    : kind == "cartesian" ? cartesian(settings, height, width)
                    : kind == "file"      ? from_file(settings, height, width)
                                          : poisson_disc(settings, height, width);
  if (!mask.any().item<bool>()) settings.fail("kind", "the mask is empty: no point of k-space is measured");
  return mask;
}

}  // namespace penumbra
