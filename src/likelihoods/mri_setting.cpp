/// `likelihood.kind: mri`: from a scanner's file and what the configuration says about it to the likelihood
/// (docs/mri.md).
#include <ATen/ATen.h>

#include "core/error.h"
#include "core/nearest.h"
#include "io/kspace.h"
#include "likelihoods/mri.h"
#include "models/coil_image.h"
#include "models/coil_noise.h"
#include "models/espirit.h"
#include "models/sampling_mask.h"

namespace penumbra {
namespace {

/// What is known of a scan, all on the CPU in complex128; without data, for a simulation, there are no samples.
struct Scan {
  std::string file;
  Tensor samples;   ///< [coils, H, W], zeros off the mask
  Tensor all;       ///< the same before anything was left out
  Tensor acquired;  ///< bool [H, W]: what the file holds
  Tensor averages;  ///< [H, W]: how many readouts a sample is the mean of; undefined: it is one readout
  Tensor noise;     ///< [coils, N]
  Tensor mask;      ///< bool [H, W]
  Tensor maps;      ///< [coils, H, W]; undefined: one coil that sees everything alike

  bool has_data() const { return samples.defined(); }
  int64_t coils() const { return has_data() ? samples.size(0) : maps.defined() ? maps.size(0) : 1; }
};

/// A number, or nothing for the word `auto`.
std::optional<double> number_or_auto(Settings& settings, const std::string& key, const std::string& otherwise) {
  if (settings.is_number(key)) return settings.number(key, positive);
  if (!settings.has(key) && otherwise != "auto") return settings.number(key, std::stod(otherwise));
  const auto word = settings.text(key, "auto");
  if (word != "auto") settings.fail(key, fmt::format("expected a number > 0 or auto, found {}", excerpt(word)));
  return std::nullopt;
}

Scan read_scan(Settings& settings, Purpose purpose) {
  Scan scan;
  if (purpose == Purpose::simulate) {
    settings.ignore("data");
    settings.ignore("slice");
    return scan;
  }
  const auto path = io::kspace_file(settings, "data");
  auto kspace = io::read_kspace(path, settings.integer("slice", 0, not_negative));
  scan.file = path.string();
  scan.all = scan.samples = kspace.samples.to(at::kComplexDouble);
  scan.acquired = kspace.mask;
  scan.averages = kspace.averages;
  if (kspace.noise.defined()) scan.noise = kspace.noise.to(at::kComplexDouble);
  return scan;
}

/// [coils, H, W] of the data where there are any.
Tensor read_maps(Settings& coils, const Scan& scan) {
  const auto path = io::kspace_file(coils, "file");
  auto maps = io::read_complex(path).to(at::kComplexDouble);
  if (maps.dim() == 2) maps = maps.unsqueeze(0);
  if (maps.dim() != 3)
    input_error("{}: coil maps: expected [coils, H, W], found {}", path.string(), describe(maps.sizes()));
  if (scan.has_data() && maps.sizes() != scan.samples.sizes())
    input_error("{}: coil maps: expected {}, as the k-space in {}, found {}", path.string(),
                describe(scan.samples.sizes()), scan.file, describe(maps.sizes()));
  if (!maps.ne(0).any().item<bool>()) input_error("{}: coil maps: expected maps, found zeros only", path.string());
  return maps;
}

/// The measured points: of those that the configuration asks for, the ones that the file holds.
Tensor read_mask(Settings settings, const Scan& scan, int64_t height, int64_t width) {
  const auto mask = mask_setting(settings, height, width, scan.acquired);
  if (!scan.has_data()) return mask;
  const auto held = mask.logical_and(scan.acquired);
  const auto asked = mask.sum().item<int64_t>(), found = held.sum().item<int64_t>();
  if (2 * found < asked)
    settings.fail("kind", fmt::format("expected points that {} holds, found {} of {}", scan.file, found, asked));
  return held;
}

Tensor estimate_maps(Settings& coils, const Scan& scan) {
  EspiritOptions options;
  options.kernel = coils.integer("kernel", options.kernel, {2, 16});
  options.threshold = coils.number("threshold", options.threshold, {0, 1, true});
  options.crop = coils.number("crop", options.crop, {0, 1});
  if (scan.coils() < 2)
    coils.fail("kind", fmt::format("estimated: expected several coils, found one in {}", scan.file));
  const auto [height, width] = sampled_centre(scan.mask);
  constexpr int64_t usual = 24;
  const bool given = coils.has("calibration");
  const auto wanted = given ? coils.integer("calibration", {1, 65536}) : usual, least = 2 * options.kernel;
  const auto needed = given ? wanted : least;
  if (std::min(height, width) < needed || wanted < least)
    coils.fail(
        given ? "calibration" : "kind",
        fmt::format("expected a fully sampled centre of at least {0}x{0} points to estimate the coils from, found "
                    "{1}x{2} in the mask of {3}{4}",
                    std::max(needed, least), height, width, scan.file,
                    wanted < least ? fmt::format(" and calibration {}", wanted) : ""));
  const auto rows = std::min(height, wanted), columns = std::min(width, wanted);
  const auto centre = around_centre(around_centre(scan.samples, 1, rows), 2, columns);
  auto maps = espirit_maps(centre, scan.mask.size(0), scan.mask.size(1), options);
  if (!maps.ne(0).any().item<bool>())
    coils.fail("crop", fmt::format("no pixel of {} is seen by the coils: expected a smaller number", scan.file));
  return maps;
}

/// Of one real component; from the noise scan where there is one, else from the rim of k-space.
Tensor estimate_covariance(const Settings& settings, const Scan& scan) {
  constexpr double rim = 0.1;
  const auto samples = scan.noise.defined() ? scan.noise : outermost_samples(scan.samples, scan.mask, rim);
  const auto fewest = 10 * scan.coils();
  if (samples.size(0) != scan.coils() || samples.size(1) < fewest)
    settings.fail("noise_sd", fmt::format("auto: expected at least {} samples of {} coils' noise in {}, found {} of {}",
                                          fewest, scan.coils(), scan.file, samples.size(1), samples.size(0)));
  auto covariance = scan.noise.defined() ? noise_covariance(samples) : robust_noise_covariance(samples);
  const auto variances = at::linalg_eigvalsh(covariance);
  if (!(variances.min().item<double>() > 1e-10 * variances.max().item<double>()))
    settings.fail("noise_sd",
                  fmt::format("auto: expected noise in every coil of {}, found coils without noise of their "
                              "own",
                              scan.file));
  return covariance;
}

/// How many readouts each sample in the mask is the mean of: that much less than the noise scan's is its variance.
double averages_of_all(const Settings& settings, const Scan& scan) {
  if (!scan.averages.defined()) return 1;
  const auto counts = scan.averages.masked_select(scan.mask);
  const double least = counts.min().item<double>(), most = counts.max().item<double>();
  if (least != most)
    settings.fail("noise_sd", fmt::format("auto: expected as many averages of every sample in {}, for one noise level, "
                                          "found {:g} to {:g}; expected a number",
                                          scan.file, least, most));
  return most;
}

struct Noise {
  double beta = 1;
  Tensor colour;  ///< lower triangle [coils, coils]; undefined: the noise counts as white
};

Noise read_noise(Settings& settings, const Scan& scan) {
  const auto given = number_or_auto(settings, "noise_sd", "auto");
  if (!scan.has_data()) {
    if (!given) settings.fail("noise_sd", "auto: there are no data yet to estimate the noise from; expected a number");
    settings.ignore("whiten");
    return {*given, {}};
  }
  const bool whiten = settings.flag("whiten", !given && scan.coils() > 1) && scan.coils() > 1;
  if (given && !whiten) return {*given, {}};
  // Samples at the rim of k-space are averages themselves.
  const double averages = given ? 1 : averages_of_all(settings, scan);
  const auto covariance = estimate_covariance(settings, scan) / (scan.noise.defined() ? averages : 1);
  const double variance = at::real(covariance.diagonal()).mean().item<double>();
  if (!whiten) return {std::sqrt(variance), {}};
  // Where the level is given, the estimate says how it is shared among the coils.
  return {given.value_or(1), at::linalg_cholesky(given ? covariance / variance : covariance)};
}

/// L^-1 x over the coils, the first dimension.
Tensor whitened(const Tensor& x, const Tensor& colour) {
  if (!colour.defined() || !x.defined()) return x;
  return at::linalg_solve(colour, x.flatten(1)).view_as(x);
}

MriOrientation read_orientation(Settings& image) {
  const auto degrees = image.integer("rotate_degrees", 0);
  if (degrees % 90 != 0 || degrees < 0 || degrees > 270)
    image.fail("rotate_degrees", fmt::format("expected 0, 90, 180 or 270, found {}", degrees));
  return {degrees / 90, image.flag("flip", false)};
}

void require_data(const Settings& image, const std::string& key, const Scan& scan) {
  if (!scan.has_data()) image.fail(key, "there are no data yet to estimate it from");
}

/// That of the sharpest image that stands out of the noise: what the fully sampled centre of k-space shows, and with
/// several coils all of the least-squares image that is signal.
Tensor estimated_phase(const Settings& image, const Scan& scan, const Noise& noise) {
  require_data(image, "phase", scan);
  auto smooth = low_resolution_image(scan.samples, scan.mask, scan.maps);
  if (!smooth.defined())
    image.fail("phase",
               fmt::format("estimated: expected a fully sampled centre, found none in the mask of {}", scan.file));
  const auto [height, width] = sampled_centre(scan.mask);
  const double centre = std::min(static_cast<double>(height) / static_cast<double>(scan.mask.size(0)),
                                 static_cast<double>(width) / static_cast<double>(scan.mask.size(1)));
  const double part = resolved_part(whitened(scan.samples, noise.colour) / noise.beta, scan.mask);
  if (scan.coils() > 1 && part > centre)
    smooth = resolved_image(least_squares_image(scan.samples, scan.mask, scan.maps), part);
  const auto phase = smooth.sgn();
  return at::where(phase.eq(0), at::ones_like(phase), phase);
}

/// White is what the prior's image shows: a large field of view has more of the dark around it.
double estimated_scale(const Settings& image, const Scan& scan, const Shape& covered) {
  require_data(image, "scale", scan);
  auto seen = least_squares_image(scan.samples, scan.mask, scan.maps);
  for (const int64_t dim : {0, 1})
    seen = around_centre(seen, dim, std::min(seen.size(dim), covered[static_cast<size_t>(dim)]));
  const double white = white_level(seen);
  if (!(white > 0))
    image.fail("scale", fmt::format("auto: expected an image with signal, found none in {}", scan.file));
  return white;
}

/// What one unit of x is in the scan, and the pixel value that stands for no signal.
struct Intensity {
  double gain = 1, black = 0;
  bool magnitude = false;
  Tensor phase;  ///< complex [H, W]; undefined: none
};

/// Height and width of the prior's image as it lies in the scan.
Shape covered_size(const Shape& image_shape, const MriOrientation& orientation) {
  if (orientation.quarter_turns % 2 != 0) return {image_shape[2], image_shape[1]};
  return {image_shape[1], image_shape[2]};
}

Intensity read_intensity(Settings& image, const Scan& scan, const Shape& image_shape, const MriOrientation& orientation,
                         const Noise& noise) {
  Intensity intensity;
  double span = 1;
  if (image.choice("values", {"signed", "magnitude"}, "signed") == "magnitude") {
    const auto range = image.numbers("pixel_range", {-1, 1});
    if (range.size() != 2 || !(range[1] > range[0])) image.fail("pixel_range", "expected [low, high] with low < high");
    span = range[1] - range[0];
    intensity.magnitude = true;
    // Two channels, real and imaginary part, have their zero at zero.
    if (image_shape[0] == 1) intensity.black = range[0];
  }
  const auto scale = number_or_auto(image, "scale", "1");
  const bool estimate_phase = image.choice("phase", {"none", "estimated"}, "none") == "estimated";
  if (estimate_phase && image_shape[0] != 1)
    image.fail("phase", "estimated: expected real images; one of two channels has a phase of its own");
  intensity.gain = scale.value_or(1) / span;
  if (estimate_phase) intensity.phase = estimated_phase(image, scan, noise);
  if (!scale) intensity.gain = estimated_scale(image, scan, covered_size(image_shape, orientation)) / span;
  return intensity;
}

Shape scan_size(const Scan& scan, const Shape& image_shape, const MriOrientation& orientation) {
  if (scan.has_data()) return scan.samples.sizes().slice(1).vec();
  if (scan.maps.defined()) return scan.maps.sizes().slice(1).vec();
  return covered_size(image_shape, orientation);
}

std::unique_ptr<Likelihood> make(Settings& settings, const Shape& image_shape, const Placement& placement,
                                 Purpose purpose) {
  auto scan = read_scan(settings, purpose);
  auto image = settings.section("image"), coils = settings.section("coils");
  const auto orientation = read_orientation(image);
  const auto kind = coils.choice("kind", {"single", "file", "estimated"}, scan.coils() > 1 ? "estimated" : "single");
  if (kind == "single" && scan.coils() > 1)
    coils.fail("kind", fmt::format("single: {} holds {} coils; expected file or estimated", scan.file, scan.coils()));
  if (kind == "estimated" && !scan.has_data())
    coils.fail("kind", "estimated: there are no data yet to estimate the coils from; expected single or file");
  if (kind == "file") scan.maps = read_maps(coils, scan);
  const auto size = scan_size(scan, image_shape, orientation);
  scan.mask = read_mask(settings.section("mask"), scan, size[0], size[1]);
  if (scan.has_data()) scan.samples = scan.samples * scan.mask;
  if (kind == "estimated") scan.maps = estimate_maps(coils, scan);
  const auto noise = read_noise(settings, scan);
  const auto intensity = read_intensity(image, scan, image_shape, orientation, noise);

  const auto maps = whitened(scan.maps, noise.colour);
  const auto A = std::make_shared<MriModel>(
      image_shape, MriOptions{scan.mask, maps, intensity.phase, intensity.gain, orientation}, placement);
  const auto y = scan.has_data() ? place(A->from_grid(whitened(scan.samples, noise.colour)), placement) : Tensor();
  MriFrame frame;
  frame.gain2 =
      intensity.gain * intensity.gain * (maps.defined() ? at::abs(maps).square().sum(0).max().item<double>() : 1);
  frame.black = intensity.black;
  if (const auto unseen = A->seen().logical_not(); unseen.any().item<bool>())
    frame.air = unseen.to(placement.precision).unsqueeze(0);
  if (noise.colour.defined()) frame.colour = place(noise.colour, placement);
  if (intensity.black != 0) {
    Shape one(image_shape);
    one.insert(one.begin(), 1);
    frame.constant = A->apply(at::full(one, -intensity.black, place(at::empty({0}), placement).options()))[0];
  }
  MriPictures pictures;
  if (scan.has_data()) {
    const auto picture = [&](const Tensor& kspace) {
      auto combined = coil_combined(kspace, scan.maps);
      // A magnitude has no sign; the phase that is taken off again is only an estimate.
      if (intensity.magnitude && intensity.phase.defined()) combined = at::abs(combined) * intensity.phase;
      return A->as_image(place(combined, placement)) + intensity.black;
    };
    pictures = {picture(scan.all), picture(scan.samples)};
  }
  return std::make_unique<MriLikelihood>(A, y, noise.beta, std::move(frame), std::move(pictures));
}

}  // namespace

extern const LikelihoodEntry mri{"mri", "the k-space of a scan, of one coil or several", make};

}  // namespace penumbra
