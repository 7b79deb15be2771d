#include "blackhole/emission.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "blackhole/ray.h"

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

/// Neighbouring rays side by side in one vector register.
using Lanes = float __attribute__((vector_size(16)));
constexpr int lanes = 4;

/// No light is followed from beyond, in r_g.
constexpr double furthest = 60;
/// The lensed images of order 4 and more, exp(-4 pi) of the ring, are left out.
constexpr double most_radians = 4.5 * pi;

/// Where a jet begins to shine, in r_g: between matter that falls in and matter that is flung out.
constexpr double jet_foot = 3;

/// What depends on the radius alone, at 1 / r from 0 to that of the horizon.
class Shells {
 public:
  Shells(const Scene& scene, double edge) : scale_(static_cast<float>(count * edge)) {
    for (int i = 0; i <= count; ++i) {
      const double r = std::clamp(count * edge / std::max(i, 1), 1.001 * edge, furthest * 2);
      const auto motion = shell_motion(scene.spin, r, scene.flow);
      const double inner = 1 / (1 + std::pow(scene.inner_edge / r, scene.sharpness));
      rows_[i] = {
          static_cast<float>(std::pow(r / scene.inner_edge, -scene.slope) * inner * std::exp(-r / scene.outer_edge)),
          static_cast<float>(std::log(r)), static_cast<float>(motion.specific_momentum),
          static_cast<float>(motion.radial_velocity),
          static_cast<float>(scene.jet.brightness / (1 + std::pow(jet_foot / r, 4)) *
                             std::pow(r / scene.inner_edge, -scene.jet.slope) * std::exp(-r / scene.outer_edge))};
    }
  }

  struct Row {
    float emissivity, log_radius, momentum, velocity, jet;
  };

  Row operator()(float u) const {
    const float x = std::min(u * scale_, count - 0.001F);
    const auto i = static_cast<int>(x);
    const float t = x - static_cast<float>(i);
    const auto &low = rows_[i], &high = rows_[i + 1];
    const auto mix = [t](float p, float q) { return p + t * (q - p); };
    return {mix(low.emissivity, high.emissivity), mix(low.log_radius, high.log_radius),
            mix(low.momentum, high.momentum), mix(low.velocity, high.velocity), mix(low.jet, high.jet)};
  }

 private:
  static constexpr int count = 512;
  float scale_;
  std::array<Row, count + 1> rows_;
};

class Emitter {
 public:
  Emitter(const Scene& scene, const Turbulence& turbulence)
      : scene_(scene),
        turbulence_(turbulence),
        shells_(scene, horizon(scene.spin)),
        spin_(static_cast<float>(scene.spin)),
        power_(static_cast<float>(scene.redshift_power)),
        falling_(static_cast<float>(-0.5 / (scene.thickness * scene.thickness))),
        highest_(static_cast<float>(3.5 * scene.thickness)),
        twist_(static_cast<float>(scene.twist)) {}

  /// j g^power (r^2 + a^2 cos^2 theta) at a place on the ray.
  float operator()(const EmittedPhoton<float>& photon, float x, float y, float drag) const {
    const bool in_flow = std::abs(photon.cosine)<highest_, has_jet = scene_.jet.brightness> 0;
    if (!in_flow && !has_jet) return 0;
    const auto shell = shells_(photon.u);
    float light = 0;
    if (in_flow) light = flow_light(photon, shell, std::atan2(y, x) + drag);
    if (has_jet) light += jet_light(photon, shell);
    const float r = 1 / photon.u;
    return light * (r * r + spin_ * spin_ * photon.cosine * photon.cosine);
  }

 private:
  float flow_light(const EmittedPhoton<float>& photon, const Shells::Row& shell, float azimuth) const {
    const float z2 = photon.cosine * photon.cosine, above = twist_ * photon.cosine;
    const float g = redshift(spin_, photon, shell.momentum * (1 - z2), shell.velocity);
    const float density = turbulence_(shell.log_radius + 0.3F * std::abs(above), azimuth + above);
    return shell.emissivity * density * std::exp(falling_ * z2 + power_ * std::log(g + 1e-9F));
  }

  float jet_light(const EmittedPhoton<float>& photon, const Shells::Row& shell) const {
    const auto& jet = scene_.jet;
    const auto from_wall = static_cast<float>((std::abs(photon.cosine) - jet.opening) / jet.width);
    if (std::abs(from_wall) > 3.5F) return 0;
    const float g = redshift(spin_, photon, 0.0F, static_cast<float>(jet.speed));
    const auto side = static_cast<float>(photon.cosine > 0 ? 1 : jet.counter);
    return side * shell.jet * std::exp(-from_wall * from_wall / 2 + power_ * std::log(g + 1e-9F));
  }

  const Scene& scene_;
  const Turbulence& turbulence_;
  Shells shells_;
  float spin_, power_, falling_, highest_, twist_;
};

/// Four neighbouring rays, until all have left or fallen in.
Lanes follow(const Emitter& emitter, const Scene& scene, Lanes alpha, Lanes beta, float radians) {
  const Lanes none{}, spin = none + static_cast<float>(scene.spin);
  const Lanes sine = none + static_cast<float>(std::sin(scene.inclination));
  const Lanes cosine = none + static_cast<float>(std::cos(scene.inclination));
  Ray<Lanes> ray(spin, sine, cosine, alpha, beta);
  Lanes h, sum{};
  // A ray that is aimed at the hole itself turns little, but must not jump into it.
  for (int i = 0; i < lanes; ++i) h[i] = radians / std::sqrt(alpha[i] * alpha[i] + beta[i] * beta[i] + 16);
  const auto edge = static_cast<float>(0.985 / horizon(scene.spin)), far = static_cast<float>(1 / furthest);
  const auto steps = static_cast<int>(most_radians / radians);
  std::array<bool, lanes> done{};
  for (int k = 0, left = lanes; k < steps && left > 0; ++k) {
    ray.step(h);
    for (int i = 0; i < lanes; ++i) {
      if (done[i]) continue;
      const float u = ray.u()[i], du = ray.du()[i];
      if (u > edge || (du < 0 && u < far)) {
        done[i] = true;
        --left;
      } else if (u > far) {
        sum[i] += emitter({u, ray.n()[2][i], ray.lambda()[i], du}, ray.n()[0][i], ray.n()[1][i], ray.drag()[i]);
      }
    }
  }
  return sum * h;
}

}  // namespace

std::vector<float> emission(const Scene& scene, const Turbulence& turbulence, const Sky& sky) {
  const Emitter emitter(scene, turbulence);
  // The flow's height is a Gaussian in cos theta: steps below its SD integrate it to a few digits.
  const double thinnest = scene.jet.brightness > 0 ? std::min(scene.thickness, scene.jet.width) : scene.thickness;
  const auto radians = static_cast<float>(std::clamp(0.9 * thinnest, 0.08, 0.16));
  std::vector<float> light(sky.rings() * sky.directions());
  for (int ring = 0; ring < sky.rings(); ++ring)
    for (int first = 0; first < sky.directions(); first += lanes) {
      Lanes alpha, beta;
      for (int i = 0; i < lanes; ++i) {
        const auto at = sky.place(ring, first + i);
        alpha[i] = static_cast<float>(at.alpha);
        beta[i] = static_cast<float>(at.beta);
      }
      const auto sum = follow(emitter, scene, alpha, beta, radians);
      for (int i = 0; i < lanes; ++i) light[ring * sky.directions() + first + i] = sum[i];
    }
  return light;
}

}  // namespace penumbra::blackhole
