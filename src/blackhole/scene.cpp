#include "blackhole/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "blackhole/kerr.h"

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

/// Takes the uniform numbers one after another.
class Dice {
 public:
  explicit Dice(std::span<const double> uniforms) : uniforms_(uniforms) {}
  double unit() { return uniforms_[next_++]; }
  double even(const Range& range) { return range.low + (range.high - range.low) * unit(); }
  double even(double low, double high) { return even({low, high}); }
  double log_even(const Range& range) { return range.low * std::pow(range.high / range.low, unit()); }
  double log_even(double low, double high) { return log_even({low, high}); }
  bool happens(double probability) { return unit() < probability; }

 private:
  std::span<const double> uniforms_;
  size_t next_ = 0;
};

double even_on_sphere(Dice& dice, const Range& degrees) {
  return std::acos(dice.even(std::cos(degrees.high * pi / 180), std::cos(degrees.low * pi / 180)));
}

/// Half of the images have a flow that reaches the horizon, half one that ends before, near its last stable orbit.
double draw_inner_edge(Dice& dice, double spin) {
  const double edge = horizon(spin), orbit = isco(spin);
  const bool reaches = dice.happens(0.5);
  const double share = dice.unit();
  return reaches ? edge * (1 + share) : edge + (std::min(orbit, 6.0) * 1.2 - edge) * share;
}

void draw_flow(Dice& dice, Scene& scene) {
  scene.flow.rotation = dice.even(0.5, 1);
  scene.flow.infall = std::pow(dice.unit(), 2);
  scene.slope = dice.even(3, 6);
  scene.inner_edge = draw_inner_edge(dice, scene.spin);
  scene.sharpness = dice.log_even(2, 8);
  // In proportion to the field, which is to hold most of the light: its half is about sqrt(27) / diameter.
  scene.outer_edge = std::sqrt(27.0) / scene.diameter * dice.log_even(0.2, 0.8);
  scene.thickness = dice.log_even(0.06, 0.35);
  scene.redshift_power = dice.even(2, 4);
}

void draw_turbulence(Dice& dice, Scene& scene) {
  auto& turbulence = scene.turbulence;
  turbulence.contrast = dice.even(0.2, 1.5);
  turbulence.winding = dice.even(0.5, 4);
  turbulence.persistence = dice.even(0.7, 1.2);
  turbulence.arms = 2 + static_cast<int>(6 * dice.unit());
  scene.twist = dice.even(-0.6, 0.6);
  const double count = dice.unit();
  scene.spots = count < 0.7 ? 0 : count < 0.85 ? 1 : count < 0.95 ? 2 : 3;
  for (auto& spot : scene.spot)
    spot = {std::log(dice.log_even(scene.inner_edge * 1.2, 12)), dice.even(0, 2 * pi), dice.log_even(0.12, 0.5),
            dice.log_even(2, 15)};
}

void draw_extras(Dice& dice, Scene& scene) {
  const bool jet = dice.happens(0.2), halo = dice.happens(0.25), asymmetric = dice.happens(0.5);
  scene.jet = {dice.log_even(0.01, 0.3), dice.even(0.5, 0.8),           dice.log_even(0.05, 0.15),
               dice.even(0, 1),          scene.slope - dice.even(0, 1), dice.unit()};
  if (!jet) scene.jet.brightness = 0;
  scene.halo = {dice.log_even(0.01, 0.12), dice.even(0.07, 0.2), dice.even(0.4, 1), dice.even(0, pi)};
  if (!halo) scene.halo.brightness = 0;
  scene.asymmetry = dice.even(0, 0.6);
  scene.asymmetry_angle = dice.even(0, 2 * pi);
  if (!asymmetric) scene.asymmetry = 0;
}

constexpr RangeField fields[] = {
    {"spin", &SceneRanges::spin, {-0.998, 0.998}, "of the hole, negative against the flow"},
    {"inclination", &SceneRanges::inclination, {0, 90}, "degrees between the line of sight and the axis"},
    {"diameter", &SceneRanges::diameter, {0.1, 1}, "of the shadow, as a share of the field"},
    {"peak", &SceneRanges::peak, {0.01, 1}, "of the brightest pixel"},
    {"blur", &SceneRanges::blur, {0.1, 20}, "SD of the beam in per cent of the field"},
    {"position_angle", &SceneRanges::position_angle, {-360, 360}, "degrees from up against the clock"},
};

}  // namespace

std::span<const RangeField> range_fields() { return fields; }

bool lies_within(const Range& range, const Range& bounds) {
  return range.low >= bounds.low && range.high <= bounds.high && range.low <= range.high;
}

std::string expectation(const Range& range, const Range& bounds) {
  return fmt::format("expected [low, high] within {:g} to {:g}, found [{:g}, {:g}]", bounds.low, bounds.high, range.low,
                     range.high);
}

Scene draw_scene(const SceneRanges& ranges, std::span<const double> uniforms) {
  Dice dice(uniforms);
  Scene scene{};
  scene.spin = dice.even(ranges.spin);
  scene.inclination = even_on_sphere(dice, ranges.inclination);
  scene.diameter = dice.even(ranges.diameter);
  scene.position_angle = dice.even(ranges.position_angle) * pi / 180;
  scene.shift_x = dice.even(-0.04, 0.04);
  scene.shift_y = dice.even(-0.04, 0.04);
  scene.mirrored = dice.happens(0.5);
  scene.peak = dice.even(ranges.peak);
  scene.blur = dice.log_even(ranges.blur) / 100;
  draw_flow(dice, scene);
  draw_turbulence(dice, scene);
  draw_extras(dice, scene);
  return scene;
}

}  // namespace penumbra::blackhole
