/// A null geodesic of the Kerr metric, followed from the observer at infinity back to the hole.
///
/// In Mino's time tau (d tau = affine parameter / (r^2 + a^2 cos^2 theta)) radius and direction part. With u = 1 / r
/// and with n, the unit vector of (theta, phi less frame dragging), both are smooth everywhere: no turning point, no
/// pole and no infinity is special.
///   u'' = (a^2 - eta - lambda^2) u + 3 (eta + (lambda - a)^2) u^2 - 2 a^2 eta u^3,   u = 0, u' = 1 at the observer
///   n'' = -(eta + lambda^2 + 2 a^2 n_z^2) n + a^2 n_z z
///   drag' = -a u (2 - a lambda u) / (1 - 2 u + a^2 u^2)
/// Nystroem's method of fourth order takes three evaluations a step, and Simpson's rule the drag along.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "blackhole/kerr.h"

namespace penumbra::blackhole {

/// Number: double, float, or a vector of floats, one ray in each.
template <typename Number>
class Ray {
 public:
  using Vector = std::array<Number, 3>;

  Ray(Number spin, Number sine, Number cosine, Number alpha, Number beta)
      : spin_(spin),
        lambda_(-alpha * sine),
        eta_(beta * beta + (alpha * alpha - spin * spin) * cosine * cosine),
        n_{sine, zero(), cosine},
        dn_{-beta * cosine, alpha, beta * sine} {
    const Number a2 = spin * spin, away = lambda_ - spin;
    linear_ = a2 - eta_ - lambda_ * lambda_;
    square_ = 3 * (eta_ + away * away);
    cube_ = -2 * a2 * eta_;
    turn_ = eta_ + lambda_ * lambda_;
  }

  Number u() const { return u_; }
  Number du() const { return du_; }
  const Vector& n() const { return n_; }
  const Vector& dn() const { return dn_; }
  Number drag() const { return drag_; }  ///< to be added to the azimuth of n
  Number lambda() const { return lambda_; }
  Number eta() const { return eta_; }
  /// 1 - 2 / r + a^2 / r^2: 0 at the horizon.
  Number lapse() const { return lapse(u_); }

  void step(Number h) {
    const Number h2 = h * h, half = h / 2, eighth = h2 / 8, sixth = h2 / 6;
    const Number u0 = u_, du0 = du_;
    const Number k1 = pull(u0), k2 = pull(u0 + half * du0 + eighth * k1), k3 = pull(u0 + h * du0 + h2 / 2 * k2);
    u_ = u0 + h * du0 + sixth * (k1 + 2 * k2);
    du_ = du0 + h / 6 * (k1 + 4 * k2 + k3);
    step_direction(h);
    const Number middle = (u0 + u_) / 2 + h / 8 * (du0 - du_);
    const Number rate = dragging(u_);
    drag_ += h / 6 * (rate_ + 4 * dragging(middle) + rate);
    rate_ = rate;
  }

 private:
  static Number zero() { return Number{}; }

  Number pull(Number u) const { return u * (linear_ + u * (square_ + u * cube_)); }
  Number lapse(Number u) const { return 1 + u * (spin_ * spin_ * u - 2); }
  Number dragging(Number u) const { return -spin_ * u * (2 - spin_ * lambda_ * u) / lapse(u); }

  Vector bend(const Vector& n) const {
    const Number a2 = spin_ * spin_, z = n[2], inward = turn_ + 2 * a2 * z * z;
    return {-inward * n[0], -inward * n[1], a2 * z - inward * z};
  }

  void step_direction(Number h) {
    const Number h2 = h * h;
    const auto moved = [&](Number first, Number second, const Vector& k) {
      Vector to;
      for (int i = 0; i < 3; ++i) to[i] = n_[i] + first * dn_[i] + second * k[i];
      return to;
    };
    const auto k1 = bend(n_), k2 = bend(moved(h / 2, h2 / 8, k1)), k3 = bend(moved(h, h2 / 2, k2));
    for (int i = 0; i < 3; ++i) {
      n_[i] += h * dn_[i] + h2 / 6 * (k1[i] + 2 * k2[i]);
      dn_[i] += h / 6 * (k1[i] + 4 * k2[i] + k3[i]);
    }
  }

  Number spin_, lambda_, eta_;
  Number linear_, square_, cube_, turn_;
  Number u_ = zero(), du_ = zero() + 1, drag_ = zero(), rate_ = zero();
  Vector n_, dn_;
};

/// Whether the ray through this place on the sky ends in the hole: what the shadow consists of.
bool is_captured(double spin, double inclination, const SkyPoint& at);

/// A meeting of the ray with the equatorial plane.
struct Crossing {
  double radius;
  double azimuth;  ///< of the observer: 0
  double inward;   ///< u' there: positive before the ray's nearest point
};

/// The first meetings outside the horizon, nearest the observer first (direct image, lensed image, photon ring).
std::vector<Crossing> equatorial_crossings(double spin, double inclination, const SkyPoint& at, int most);

}  // namespace penumbra::blackhole
