#include "vlbi/synthesis.h"

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "vlbi/sidereal.h"

namespace penumbra::vlbi {
namespace {

constexpr double light = 299792458;          // m/s
constexpr double two_bit_efficiency = 0.88;  // of a digital correlator
constexpr double degree = std::numbers::pi / 180;

/// Of Stokes I, Jy; the air absorbs, and shines itself.
double thermal_sd(const ObservationPlan& plan, const Station& a, const Station& b, double sin_a, double sin_b) {
  const auto sefd = [](const Station& station) { return (station.sefd_right + station.sefd_left) / 2; };
  const double hand = std::sqrt(sefd(a) * sefd(b) / (2 * plan.bandwidth * plan.integration)) / two_bit_efficiency;
  const double air = std::exp(plan.opacity * (1 / sin_a + 1 / sin_b) / 2);
  return hand * air / std::sqrt(plan.hands);
}

void check(const ObservationPlan& plan, const std::string& name) {
  const auto positive = [&](double value, const char* field) {
    if (!(value > 0 && std::isfinite(value)))
      input_error("{}: {}: expected a number > 0, found {}", name, field, value);
  };
  positive(plan.frequency, "frequency");
  positive(plan.bandwidth, "bandwidth");
  positive(plan.interval, "interval");
  positive(plan.integration, "integration");
  for (const auto& station : plan.stations)
    if (!(station.sefd_right > 0 && station.sefd_left > 0))
      input_error("{}: expected an SEFD > 0 for station {}, found {} and {}", name, station.name, station.sefd_right,
                  station.sefd_left);
  constexpr double most = 1e6;
  if (!((plan.stop - plan.start) * 3600 / plan.interval < most))
    input_error("{}: interval: expected at most {:g} snapshots, found {} s for {} h", name, most, plan.interval,
                plan.stop - plan.start);
}

/// exp(2 pi i f x) for the pixels' places x along one side, times the pulse's transform.
std::vector<std::complex<double>> side_factors(double frequency, double pixel, int64_t count, Pulse pulse) {
  const double t = std::numbers::pi * frequency * pixel;
  const double sinc = t == 0 ? 1 : std::sin(t) / t;
  const double response = pulse == Pulse::triangle ? sinc * sinc : 1;
  std::vector<std::complex<double>> factors(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    factors[static_cast<size_t>(i)] =
        std::polar(1.0, 2 * t * (static_cast<double>(count - 1) / 2 - static_cast<double>(i))) * response;
  return factors;
}

}  // namespace

Direction::Direction(double right_ascension_hours, double declination_degrees)
    : right_ascension_(right_ascension_hours * 15 * degree), declination_(declination_degrees * degree) {}

/// Along the source's meridian, to the East, and to the pole.
std::array<double, 3> Direction::turned(const Station& station, double sidereal_degrees) const {
  const double theta = sidereal_degrees * degree - right_ascension_;
  const auto [x, y, z] = station.position;
  return {std::cos(theta) * x - std::sin(theta) * y, std::sin(theta) * x + std::cos(theta) * y, z};
}

std::array<double, 2> Direction::baseline(const Station& first, const Station& second, double sidereal_degrees) const {
  const auto a = turned(first, sidereal_degrees), b = turned(second, sidereal_degrees);
  return {a[1] - b[1], -std::sin(declination_) * (a[0] - b[0]) + std::cos(declination_) * (a[2] - b[2])};
}

double Direction::elevation(const Station& station, double sidereal_degrees) const {
  const auto [x, y, z] = turned(station, sidereal_degrees);
  const double radius = std::sqrt(x * x + y * y + z * z);
  return std::asin((std::cos(declination_) * x + std::sin(declination_) * z) / radius) / degree;
}

Observation plan_observation(const ObservationPlan& plan, const std::string& name) {
  check(plan, name);
  Observation observation{.name = {},
                          .source = plan.source,
                          .right_ascension = plan.right_ascension,
                          .declination = plan.declination,
                          .frequency = plan.frequency,
                          .bandwidth = plan.bandwidth,
                          .mjd = plan.mjd,
                          .stations = plan.stations,
                          .visibilities = {}};
  const Direction source(plan.right_ascension, plan.declination);
  const auto count = static_cast<int>(plan.stations.size());
  for (int64_t snapshot = 0;; ++snapshot) {
    const double hours = plan.start + static_cast<double>(snapshot) * plan.interval / 3600;
    if (hours >= plan.stop) break;
    const double turned = plan.clock == Clock::sidereal
                              ? hours * 15
                              : sidereal_degrees(static_cast<double>(plan.mjd) + mjd_zero + hours / 24);
    std::vector<double> sine(plan.stations.size());  // of the elevation; 0 where it does not observe
    for (int i = 0; i < count; ++i)
      if (const double elevation = source.elevation(plan.stations[i], turned);
          elevation > plan.min_elevation && elevation < plan.max_elevation)
        sine[i] = std::sin(elevation * degree);
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b) {
        if (sine[a] <= 0 || sine[b] <= 0) continue;
        const auto [u, v] = source.baseline(plan.stations[a], plan.stations[b], turned);
        const double per_metre = plan.frequency / light;
        observation.visibilities.push_back({hours, plan.integration, a, b, u * per_metre, v * per_metre, 0,
                                            thermal_sd(plan, plan.stations[a], plan.stations[b], sine[a], sine[b])});
      }
  }
  if (observation.visibilities.empty())
    input_error("{}: expected two stations that see {} between {} and {} degrees at the same time, found none", name,
                plan.source.empty() ? "the source" : plan.source, plan.min_elevation, plan.max_elevation);
  return observation;
}

void observe_image(Observation& observation, const io::SkyImage& image, Pulse pulse) {
  const auto pixels = image.pixels.to(at::kCPU, at::kDouble).contiguous();
  const auto height = pixels.size(0), width = pixels.size(1);
  for (auto& row : observation.visibilities) {
    // A is a product of a row's and a column's factor: no matrix is needed.
    const auto x = side_factors(row.u, image.pixel_radians, width, pulse),
               y = side_factors(row.v, image.pixel_radians, height, pulse);
    const auto* at = pixels.data_ptr<double>();
    row.value = 0;
    for (const auto& factor : y) {
      double real = 0, imaginary = 0;
      for (const auto& other : x) {
        real += *at * other.real();
        imaginary += *at++ * other.imag();
      }
      row.value += factor * std::complex(real, imaginary);
    }
  }
}

}  // namespace penumbra::vlbi
