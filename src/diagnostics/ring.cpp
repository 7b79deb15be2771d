#include "diagnostics/ring.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "core/error.h"
#include "diagnostics/polar_image.h"

namespace penumbra::diagnostics {
namespace {

constexpr double degrees = 180 / M_PI;
constexpr double most_uneven = 0.3, most_filled = 0.8, least_around = 0.4;  // see find_ring
constexpr int search_angles = 48, angles = 180;

/// The ridge as seen from a centre: the brightest radius of each direction.
struct Ridge {
  std::vector<double> radius, height;
  double around = 0;        ///< share of the directions that see it, (sum h)^2 / (n sum h^2): 2/3 for 1 + cos
  double mean = 0, sd = 0;  ///< of the radius, weighted by the height: on a ring's dark side there is no ridge to see
};

double parabola_peak(double before, double at, double after) {
  const double bend = before - 2 * at + after;
  return bend < 0 ? 0.5 * (before - after) / bend : 0;
}

Ridge ridge_of(const PolarImage& image, const Centre& centre, int directions) {
  Ridge ridge;
  double weight = 0, weight2 = 0, sum = 0, squares = 0;
  for (int a = 0; a < directions; ++a) {
    const auto profile = image.profile(centre, 2 * M_PI * a / directions);
    const auto peak = std::max_element(profile.begin(), profile.end()) - profile.begin();
    double place = static_cast<double>(peak);
    if (peak > 0 && peak + 1 < static_cast<std::ptrdiff_t>(profile.size()))
      place += parabola_peak(profile[peak - 1], profile[peak], profile[peak + 1]);
    const double r = place * image.radial_step(), h = std::max(profile[peak], 0.0);
    ridge.radius.push_back(r);
    ridge.height.push_back(h);
    weight += h, weight2 += h * h, sum += h * r, squares += h * r * r;
  }
  if (!(weight > 0)) return ridge;
  ridge.around = weight * weight / (directions * weight2);
  ridge.mean = sum / weight;
  ridge.sd = std::sqrt(std::max(squares / weight - ridge.mean * ridge.mean, 0.0));
  return ridge;
}

/// How unequal the radii are; a point of light, without any radius or to one side, is no ring at all.
double unevenness(const Ridge& ridge, double pixel) {
  return ridge.mean > 1.5 * pixel && ridge.around > least_around ? ridge.sd / ridge.mean : 1e9;
}

/// From the centroid outwards on a grid, then around the best point with ever smaller steps.
Centre find_centre(const PolarImage& image) {
  auto best = image.centroid();
  double least = unevenness(ridge_of(image, best, search_angles), image.pixel());
  double step = image.pixel() * 2;
  for (int reach = 5; step > 0.02 * image.pixel(); step /= 2, reach = 2) {
    const auto middle = best;
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j) {
        const Centre centre{middle.east + i * step, middle.north + j * step};
        const double here = unevenness(ridge_of(image, centre, search_angles), image.pixel());
        if (here < least) least = here, best = centre;
      }
  }
  return best;
}

/// Where a profile crosses `level` from index `from` on in steps of +-1; absent where it does not.
std::optional<double> crossing(const std::vector<double>& profile, int64_t from, int64_t step, double level) {
  const auto count = static_cast<int64_t>(profile.size());
  for (int64_t i = from; i + step >= 0 && i + step < count; i += step)
    if (profile[i + step] <= level)
      return static_cast<double>(i) +
             static_cast<double>(step) * (profile[i] - level) / (profile[i] - profile[i + step]);
  return std::nullopt;
}

/// Mean FWHM of the profiles above the brightness at the rim, weighted as the ridge is.
double full_width(const PolarImage& image, const Centre& centre, const Ridge& ridge) {
  const auto directions = static_cast<int>(ridge.radius.size());
  std::vector<std::vector<double>> profiles;
  double floor = 0;
  for (int a = 0; a < directions; ++a) {
    profiles.push_back(image.profile(centre, 2 * M_PI * a / directions));
    floor += profiles.back().back() / directions;
  }
  double sum = 0, weight = 0;
  for (int a = 0; a < directions; ++a) {
    const auto& profile = profiles[a];
    const auto peak = std::max_element(profile.begin(), profile.end()) - profile.begin();
    const double half = (profile[peak] + floor) / 2;
    const auto inner = crossing(profile, peak, -1, half), outer = crossing(profile, peak, 1, half);
    if (!inner || !outer || !(ridge.height[a] > 0)) continue;
    sum += ridge.height[a] * (*outer - *inner) * image.radial_step();
    weight += ridge.height[a];
  }
  return weight > 0 ? sum / weight : NAN;
}

/// Orientation and asymmetry: the first Fourier coefficient along circles, over the mean, averaged over their radii.
void measure_light(const PolarImage& image, const Centre& centre, Ring& ring) {
  constexpr int circles = 21;
  const double low = std::max(ring.diameter - ring.width, 0.0) / 2, high = (ring.diameter + ring.width) / 2;
  std::complex<double> directions = 0;
  double asymmetry = 0;
  for (int c = 0; c < circles; ++c) {
    const double r = low + (high - low) * c / (circles - 1);
    std::complex<double> first = 0;
    double zeroth = 0;
    for (int a = 0; a < angles; ++a) {
      const double phi = 2 * M_PI * a / angles, light = image.at(centre, r, phi);
      first += light * std::polar(1.0, phi);
      zeroth += light;
    }
    if (!(zeroth > 0)) continue;
    asymmetry += std::abs(first) / zeroth / circles;
    directions += std::abs(first) > 0 ? first / std::abs(first) / static_cast<double>(circles) : 0;
  }
  ring.asymmetry = asymmetry;
  ring.orientation = std::arg(directions) * degrees;
  ring.orientation_sd = std::sqrt(std::max(-2 * std::log(std::min(std::abs(directions), 1.0)), 0.0)) * degrees;
}

/// Mean brightness within an eighth of the diameter of the centre, over that of the ridge.
double contrast(const PolarImage& image, const Centre& centre, const Ridge& ridge) {
  constexpr int circles = 4, directions = 24;
  double middle = 0;
  for (int c = 0; c < circles; ++c)
    for (int a = 0; a < directions; ++a)
      middle += image.at(centre, ridge.mean / 4 * c / (circles - 1), 2 * M_PI * a / directions);
  const double heights = std::accumulate(ridge.height.begin(), ridge.height.end(), 0.0);
  return middle / (circles * directions) / (heights / static_cast<double>(ridge.height.size()));
}

double weighted_quantile(const std::vector<double>& sorted, const std::vector<double>& cumulative, double share) {
  // The weight of each value is centred on it; between two values the quantile is interpolated.
  if (share <= cumulative.front()) return sorted.front();
  for (size_t i = 1; i < sorted.size(); ++i)
    if (share <= cumulative[i])
      return std::lerp(sorted[i - 1], sorted[i], (share - cumulative[i - 1]) / (cumulative[i] - cumulative[i - 1]));
  return sorted.back();
}

}  // namespace

std::optional<Ring> find_ring(const Tensor& pixels, const RingOptions& options) {
  if (pixels.dim() != 2 || pixels.numel() == 0)
    input_error("ring: expected an image [height, width], found {}", describe(pixels.sizes()));
  if (!(options.fov > 0)) input_error("ring: expected a field of view > 0, found {:g}", options.fov);
  if (!pixels.isfinite().all().item<bool>()) input_error("ring: expected finite pixels, found some that are not");
  const double pixel = options.fov / static_cast<double>(pixels.size(1));
  const double blur = options.blur >= 0 ? options.blur : 2 * pixel;
  const PolarImage image(pixels.to(at::kCPU, at::kDouble) - options.black, pixel, blur);
  if (!image.has_light()) return std::nullopt;
  const auto centre = find_centre(image);
  const auto ridge = ridge_of(image, centre, angles);
  if (!(unevenness(ridge, pixel) < most_uneven)) return std::nullopt;
  Ring ring{.east = centre.east, .north = centre.north};
  ring.diameter = 2 * ridge.mean;
  ring.diameter_sd = 2 * ridge.sd;
  ring.central_contrast = contrast(image, centre, ridge);
  const double blurred = full_width(image, centre, ridge);
  if (!(ring.central_contrast < most_filled) || !std::isfinite(blurred)) return std::nullopt;
  ring.width = std::sqrt(std::max(blurred * blurred - blur * blur, 0.0));  // widths of Gaussians add in squares
  measure_light(image, centre, ring);
  return ring;
}

Interval interval(const std::vector<double>& values, const std::vector<double>& weights) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  Interval result;
  double squares = 0, below = 0;
  std::vector<double> sorted, cumulative;
  for (const auto i : order) {
    const double w = weights[i] / all;
    if (w == 0) continue;
    result.mean += w * values[i];
    squares += w * w;
    sorted.push_back(values[i]);
    cumulative.push_back(below + w / 2);
    below += w;
  }
  for (const auto i : order) result.sd += weights[i] / all * std::pow(values[i] - result.mean, 2);
  result.sd = squares < 1 ? std::sqrt(result.sd / (1 - squares)) : NAN;
  result.low68 = weighted_quantile(sorted, cumulative, 0.16);
  result.high68 = weighted_quantile(sorted, cumulative, 0.84);
  result.low95 = weighted_quantile(sorted, cumulative, 0.025);
  result.high95 = weighted_quantile(sorted, cumulative, 0.975);
  return result;
}

Interval circular_interval(const std::vector<double>& angles_in_degrees, const std::vector<double>& weights) {
  std::complex<double> sum = 0;
  double all = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] * std::polar(1.0, angles_in_degrees[i] / degrees);
    all += weights[i];
  }
  const double mean = std::arg(sum) * degrees;
  std::vector<double> differences;
  for (const auto angle : angles_in_degrees) differences.push_back(std::remainder(angle - mean, 360));
  auto result = interval(differences, weights);
  result.mean = mean;
  result.sd = std::sqrt(std::max(-2 * std::log(std::min(std::abs(sum) / all, 1.0)), 0.0)) * degrees;
  for (auto* end : {&result.low68, &result.high68, &result.low95, &result.high95}) *end += mean;
  return result;
}

}  // namespace penumbra::diagnostics
