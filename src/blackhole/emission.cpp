#include "blackhole/emission.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "blackhole/lanes.h"
#include "blackhole/ray.h"

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

/// No light is followed from beyond, in r_g.
constexpr double furthest = 60;
/// Further out all the light that is left is less than this share of the brightest shell's.
constexpr double faintest = 1e-4;
/// The lensed images of order 4 and more, exp(-4 pi) of the ring, are left out.
constexpr double most_of_a_ray = 4.5 * pi;
/// The flow ends at so many SD of its height, a jet's wall at so many of its width.
constexpr float reach = 3.5F;
/// Where a jet begins to shine, in r_g: between matter that falls in and matter that is flung out.
constexpr double jet_foot = 3;
/// What takes the place of g = 0 under a logarithm.
constexpr float no_light = 1e-9F;

/// What depends on the radius alone, at 1 / r from 0 to that of the horizon.
class Shells {
 public:
  /// One radius: emissivity, ln r, l in the plane and u^r of the flow; emissivity of the jet.
  struct Row {
    Lanes flow;
    float jet;
  };

  Shells(const Scene& scene, double edge) : scale_(static_cast<float>(count * edge)) {
    double brightest = 0;
    // From the hole outwards.
    for (int i = count; i >= 0; --i) {
      const double r = std::clamp(count * edge / std::max(i, 1), 1.001 * edge, 2 * furthest);
      rows_[i] = row(scene, r);
      // The light of a shell as thick as its radius, seen from everywhere.
      const double light = r * r * r * (rows_[i].flow[0] + rows_[i].jet);
      brightest = std::max(brightest, light);
      if (light > faintest * brightest) extent_ = std::min(r, furthest);
    }
  }

  double extent() const { return extent_; }

  Row operator()(float u) const {
    const float x = std::min(u * scale_, count - 0.001F);
    const auto i = static_cast<int>(x);
    const float t = x - static_cast<float>(i);
    const auto &low = rows_[i], &high = rows_[i + 1];
    return {low.flow + t * (high.flow - low.flow), low.jet + t * (high.jet - low.jet)};
  }

 private:
  static Row row(const Scene& scene, double r) {
    const auto motion = shell_motion(scene.spin, r, scene.flow);
    const double edge = scene.inner_edge, fading = std::exp(-r / scene.outer_edge);
    const double flow = std::pow(r / edge, -scene.slope) / (1 + std::pow(edge / r, scene.sharpness)) * fading;
    const double jet = std::pow(r / edge, -scene.jet.slope) / (1 + std::pow(jet_foot / r, 4)) * fading;
    return {Lanes{static_cast<float>(flow), static_cast<float>(std::log(r)),
                  static_cast<float>(motion.specific_momentum), static_cast<float>(motion.radial_velocity)},
            static_cast<float>(scene.jet.brightness * jet)};
  }

  static constexpr int count = 512;
  float scale_;
  double extent_ = furthest;
  std::array<Row, count + 1> rows_;
};

class Emitter {
 public:
  Emitter(const Scene& scene, const Turbulence& turbulence)
      : scene_(scene),
        turbulence_(turbulence),
        shells_(scene, horizon(scene.spin)),
        spin_(all_lanes(scene.spin)),
        power_(static_cast<float>(scene.redshift_power)),
        falling_(static_cast<float>(-0.5 / (scene.thickness * scene.thickness))),
        highest_(static_cast<float>(reach * scene.thickness)),
        twist_(static_cast<float>(scene.twist)) {}

  double extent() const { return shells_.extent(); }

  /// Where there may be light at all.
  LaneBits may_shine(Lanes cosine) const {
    if (scene_.jet.brightness > 0) return LaneBits{} - 1;
    return magnitude(cosine) < highest_;
  }

  /// j g^power (r^2 + a^2 cos^2 theta) at places on four rays; `shining` are those that count.
  Lanes operator()(const Ray<Lanes>& ray, LaneBits shining) const {
    // A ray that has ended runs on beside the others, to no number in the end: it must not be looked up in a table.
    const EmittedPhoton<Lanes> photon{shining ? ray.u() : all_lanes(0.1), shining ? ray.n()[2] : Lanes{}, ray.lambda(),
                                      ray.du()};
    const Shell shell = shells_at(photon.u);
    const Lanes azimuth = angle_of(ray.n()[1], ray.n()[0]) + ray.drag();
    Lanes light = flow_light(photon, shell, shining ? azimuth : Lanes{});
    if (scene_.jet.brightness > 0) light += jet_light(photon, shell);
    const Lanes r = 1 / photon.u;
    return shining ? light * (r * r + spin_ * spin_ * photon.cosine * photon.cosine) : Lanes{};
  }

 private:
  struct Shell {
    Lanes emissivity, log_radius, momentum, velocity, jet;
  };

  /// The rows of four radii, turned into columns.
  Shell shells_at(Lanes u) const {
    const auto a = shells_(u[0]), b = shells_(u[1]), c = shells_(u[2]), d = shells_(u[3]);
    const auto column = [&](int i) { return Lanes{a.flow[i], b.flow[i], c.flow[i], d.flow[i]}; };
    return {column(0), column(1), column(2), column(3), Lanes{a.jet, b.jet, c.jet, d.jet}};
  }

  Lanes flow_light(const EmittedPhoton<Lanes>& photon, const Shell& shell, Lanes azimuth) const {
    const Lanes z2 = photon.cosine * photon.cosine, above = twist_ * photon.cosine;
    const Lanes g = redshift(spin_, photon, shell.momentum * (1 - z2), shell.velocity);
    // Another height, another part of the field: it has two dimensions, the flow three.
    const Lanes place = shell.log_radius + 0.3F * magnitude(above), turned = azimuth + above;
    Lanes density{};
    for (int i = 0; i < lane_count; ++i) density[i] = turbulence_(place[i], turned[i]);
    return shell.emissivity * density * exponential(falling_ * z2 + power_ * logarithm(g + no_light));
  }

  Lanes jet_light(const EmittedPhoton<Lanes>& photon, const Shell& shell) const {
    const auto& jet = scene_.jet;
    const Lanes from_wall =
        (magnitude(photon.cosine) - static_cast<float>(jet.opening)) * static_cast<float>(1 / jet.width);
    const LaneBits in_wall = magnitude(from_wall) < reach;
    if (!any(in_wall)) return Lanes{};
    const Lanes g = redshift(spin_, photon, Lanes{}, all_lanes(jet.speed));
    const Lanes side = photon.cosine > 0 ? all_lanes(1) : all_lanes(jet.counter);
    const Lanes light = side * shell.jet * exponential(power_ * logarithm(g + no_light) - from_wall * from_wall / 2);
    return in_wall ? light : Lanes{};
  }

  const Scene& scene_;
  const Turbulence& turbulence_;
  Shells shells_;
  Lanes spin_;
  float power_, falling_, highest_, twist_;
};

/// Four neighbouring rays, until all have left or fallen in.
Lanes follow(const Emitter& emitter, const Scene& scene, Lanes alpha, Lanes beta, float radians) {
  Ray<Lanes> ray(all_lanes(scene.spin), all_lanes(std::sin(scene.inclination)), all_lanes(std::cos(scene.inclination)),
                 alpha, beta);
  // A ray that is aimed at the hole itself turns little, but must not jump into it.
  const Lanes h = radians / root(alpha * alpha + beta * beta + 16);
  const auto edge = static_cast<float>(0.985 / horizon(scene.spin)), far = static_cast<float>(1 / emitter.extent());
  const auto steps = static_cast<int>(most_of_a_ray / radians);
  Lanes sum{};
  LaneBits under_way = LaneBits{} - 1;
  for (int k = 0; k < steps && any(under_way); ++k) {
    ray.step(h);
    const Lanes u = ray.u();
    under_way &= ~((u > edge) | ((ray.du() < 0) & (u < far)));
    const LaneBits shining = under_way & (u > far) & emitter.may_shine(ray.n()[2]);
    if (any(shining)) sum += emitter(ray, shining);
  }
  return sum * h;
}

}  // namespace

std::vector<float> emission(const Scene& scene, const Turbulence& turbulence, const Sky& sky) {
  const Emitter emitter(scene, turbulence);
  // The flow's height is a Gaussian in cos theta: the trapezoidal rule integrates it to 1e-4 with steps of 1.4 SD.
  const double thinnest = scene.jet.brightness > 0 ? std::min(scene.thickness, scene.jet.width) : scene.thickness;
  const auto radians = static_cast<float>(std::clamp(1.2 * thinnest, 0.02, 0.16));
  std::vector<float> light(sky.rings() * sky.directions());
  for (int ring = 0; ring < sky.rings(); ++ring)
    for (int first = 0; first < sky.directions(); first += lane_count) {
      Lanes alpha{}, beta{};
      for (int i = 0; i < lane_count; ++i) {
        const auto at = sky.place(ring, first + i);
        alpha[i] = static_cast<float>(at.alpha);
        beta[i] = static_cast<float>(at.beta);
      }
      const auto sum = follow(emitter, scene, alpha, beta, radians);
      for (int i = 0; i < lane_count; ++i) light[ring * sky.directions() + first + i] = sum[i];
    }
  return light;
}

}  // namespace penumbra::blackhole
