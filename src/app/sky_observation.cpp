#include "app/sky_observation.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include "core/error.h"
#include "core/nearest.h"
#include "io/file.h"
#include "io/image.h"
#include "io/sky_image.h"
#include "vlbi/array_file.h"
#include "vlbi/date.h"
#include "vlbi/synthesis.h"
#include "vlbi/uvfits.h"

namespace penumbra::app {
namespace {

/// Jy a pixel; `flux` scales the image, whatever its unit.
io::SkyImage read_truth(Settings& settings, const std::filesystem::path& path) {
  const auto bytes = io::read_file(path);
  io::SkyImage image;
  if (io::looks_like_sky_image(bytes)) {
    image = io::parse_sky_image(bytes, path.string());
  } else {
    const auto pixels = io::parse_image(bytes, path.string(), 0, 1);
    if (pixels.size(0) != 1)
      input_error("{}: expected an image of one channel, found {}", path.string(), describe(pixels.sizes()));
    image.pixels = pixels[0];
  }
  if (image.pixel_radians == 0 || settings.has("fov"))
    image.pixel_radians =
        settings.number("fov", positive) * io::radians_per_microarcsecond / static_cast<double>(image.pixels.size(1));
  if (settings.has("flux")) {
    const double sum = image.pixels.sum().item<double>();
    if (!(sum > 0))
      input_error("{}: expected an image with a sum > 0 to scale to a flux, found {}", path.string(), sum);
    image.pixels = image.pixels * (settings.number("flux", positive) / sum);
  } else if (!image.unit.empty() && !io::is_jansky_per_pixel(image.unit)) {
    input_error("{}: BUNIT: expected JY/PIXEL, or observation.flux to scale the image to, found {}", path.string(),
                excerpt(image.unit));
  }
  return image;
}

std::vector<vlbi::Station> array_setting(Settings& settings) {
  const auto name = settings.text("array", "EHT2017");
  if (auto known = vlbi::known_array(name)) return *known;
  const auto names = vlbi::known_arrays();
  if (name.find('.') == name.npos && name.find('/') == name.npos)
    settings.fail("array", fmt::format("expected {} or a file of stations, found {}{}", fmt::join(names, ", "),
                                       excerpt(name), suggestion(name, names)));
  return vlbi::read_array(settings.file("array"));
}

/// Known sources need no coordinates.
void read_source(Settings& settings, vlbi::ObservationPlan& plan) {
  struct Known {
    const char* name;
    double hours, degrees;
  };
  constexpr Known known[]{{"M87", 12.513728717168174, 12.39112323919932},
                          {"SgrA", 17.761122472222223, -28.992189444444445}};
  plan.source = settings.text("source", "M87");
  for (const auto& source : known)
    if (plan.source == source.name) {
      plan.right_ascension = settings.number("right_ascension", source.hours, {0, 24});
      plan.declination = settings.number("declination", source.degrees, {-90, 90});
      return;
    }
  if (!settings.has("right_ascension") || !settings.has("declination"))
    settings.fail("source", fmt::format("expected M87, SgrA, or right_ascension (hours) and declination (degrees), "
                                        "found {}{}",
                                        excerpt(plan.source), suggestion(plan.source, {"M87", "SgrA"})));
  plan.right_ascension = settings.number("right_ascension", {0, 24});
  plan.declination = settings.number("declination", {-90, 90});
}

vlbi::ObservationPlan read_plan(Settings& settings) {
  vlbi::ObservationPlan plan;
  plan.stations = array_setting(settings);
  read_source(settings, plan);
  const auto date = settings.text("date", vlbi::date_of(plan.mjd));
  const auto mjd = vlbi::mjd_of(date);
  if (!mjd) settings.fail("date", fmt::format("expected a day such as 2017-04-06, found {}", excerpt(date)));
  plan.mjd = *mjd;
  if (settings.choice("clock", {"utc", "sidereal"}, "utc") == "sidereal") plan.clock = vlbi::Clock::sidereal;
  plan.start = settings.number("start", plan.start, {-48, 48});
  plan.stop = settings.number("stop", plan.stop, {plan.start, plan.start + 48, true});
  plan.interval = settings.number("interval", plan.interval, positive);
  plan.integration = settings.number("integration", plan.integration, positive);
  plan.frequency = settings.number("frequency", plan.frequency, positive);
  plan.bandwidth = settings.number("bandwidth", plan.bandwidth, positive);
  plan.min_elevation = settings.number("min_elevation", plan.min_elevation, {0, 90});
  plan.max_elevation = settings.number("max_elevation", plan.max_elevation, {plan.min_elevation, 90, true});
  plan.opacity = settings.number("opacity", plan.opacity, not_negative);
  plan.hands = static_cast<int>(settings.integer("hands", plan.hands, {1, 2}));
  return plan;
}

}  // namespace

vlbi::Observation simulate_sky(Settings& settings, const std::filesystem::path& truth, uint64_t seed) {
  const auto image = read_truth(settings, truth);
  auto observation = settings.has("like") ? vlbi::read_uvfits(settings.file("like"))
                                          : vlbi::plan_observation(read_plan(settings), "observation");
  vlbi::Corruption corruption;
  corruption.thermal_noise = settings.flag("thermal_noise", corruption.thermal_noise);
  corruption.gain_sd = settings.number("gain_sd", corruption.gain_sd, not_negative);
  corruption.gain_sd_per_time = settings.number("gain_sd_per_time", corruption.gain_sd_per_time, not_negative);
  corruption.random_phases = settings.choice("station_phases", {"none", "random"}, "none") == "random";
  settings.finish();
  vlbi::observe_image(observation, image);
  vlbi::corrupt(observation, corruption, seed);
  return observation;
}

}  // namespace penumbra::app
