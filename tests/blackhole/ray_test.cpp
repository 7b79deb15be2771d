// Rays against what is known of them in closed form: the shadow's edge, constants of motion, the separated integrals.
#include "blackhole/ray.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace penumbra::blackhole {
namespace {

using std::numbers::pi;

/// How far from `centre` in this direction the shadow ends, by the rays alone.
double traced_edge(double a, double inclination, const SkyPoint& centre, double direction) {
  double inside = 0, outside = 12;
  for (int i = 0; i < 30; ++i) {
    const double middle = (inside + outside) / 2;
    const SkyPoint at{centre.alpha + middle * std::cos(direction), centre.beta + middle * std::sin(direction)};
    (is_captured(a, inclination, at) ? inside : outside) = middle;
  }
  return inside;
}

double simpson(const std::function<double(double)>& f, double from, double to) {
  constexpr int pieces = 2000;
  const double h = (to - from) / pieces;
  double sum = f(from) + f(to);
  for (int i = 1; i < pieces; ++i) sum += (i % 2 ? 4 : 2) * f(from + i * h);
  return sum * h / 3;
}

TEST(Ray, FindsTheShadowOfSchwarzschild) {
  for (const double direction : {0.0, 1.0, 2.5, 4.0})
    EXPECT_NEAR(traced_edge(0, 1.0, {0, 0}, direction), std::sqrt(27.0), 1e-6);
}

struct View {
  double spin, inclination;
};

class KerrShadow : public testing::TestWithParam<View> {};

TEST_P(KerrShadow, IsThatOfBardeensClosedForm) {
  const auto [a, inclination] = GetParam();
  const auto curve = critical_curve(a, inclination, 41);
  const SkyPoint centre{(curve.front().alpha + curve.back().alpha) / 2, 0};
  for (size_t i = 0; i < curve.size(); i += 5) {
    const double across = curve[i].alpha - centre.alpha, up = curve[i].beta;
    // The issue asks for 1 % of the diameter; what the step leaves is far less.
    EXPECT_NEAR(traced_edge(a, inclination, centre, std::atan2(up, across)), std::hypot(across, up), 1e-5);
    EXPECT_NEAR(traced_edge(a, inclination, centre, std::atan2(-up, across)), std::hypot(across, up), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Views, KerrShadow,
                         testing::Values(View{0.3, 0.5}, View{0.5, 0.02}, View{0.7, 1.0}, View{0.9, pi / 3},
                                         View{0.94, pi / 2}, View{0.998, 1.4}, View{-0.9, 0.9}));

TEST(Ray, KeepsItsConstants) {
  for (const auto& [a, inclination] : {View{0.9, 1.0}, View{-0.5, 0.3}, View{0.0, 1.3}})
    for (const SkyPoint at : {SkyPoint{4, 3}, SkyPoint{-6, 1}, SkyPoint{0.001, 6}, SkyPoint{2, -5.5}}) {
      Ray<double> ray(a, std::sin(inclination), std::cos(inclination), at.alpha, at.beta);
      const auto [lambda, eta] = photon_constants(a, inclination, at);
      const double h = 0.01 / std::hypot(at.alpha, at.beta);
      for (int i = 0; i < 400 && ray.lapse() > 0.1; ++i) ray.step(h);
      const auto& n = ray.n();
      const auto& v = ray.dn();
      const double z2 = n[2] * n[2], a2 = a * a, u = ray.u(), shear = eta + (lambda - a) * (lambda - a);
      const double radial = 1 + (a2 - eta - lambda * lambda) * u * u + 2 * shear * u * u * u - a2 * eta * u * u * u * u;
      const double polar = eta + (a2 - eta - lambda * lambda) * z2 - a2 * z2 * z2;
      // 400 steps of fourth order at 0.01 radian: 1e-9 relative, of numbers up to 40.
      EXPECT_NEAR(n[0] * n[0] + n[1] * n[1] + z2, 1, 1e-8);
      EXPECT_NEAR(n[1] * v[0] - n[0] * v[1], lambda, 1e-7);
      EXPECT_NEAR(v[2] * v[2], polar, 1e-6);
      EXPECT_NEAR(ray.du() * ray.du(), radial, 1e-6);
    }
}

TEST(Ray, MeetsThePlaneWhereTheSeparatedIntegralsSay) {
  // The direct crossing: tau = int dz / sqrt(polar) from the observer's latitude to the plane = int du / sqrt(radial).
  // With z = sqrt(up) sin x the first is smooth. Rays with beta < 0 go straight to the plane.
  for (const auto& [a, inclination] : {View{0.9, 1.0}, View{-0.6, 0.6}, View{0.2, 1.3}})
    for (const SkyPoint at : {SkyPoint{5, -6}, SkyPoint{-8, -3}, SkyPoint{3, -9}}) {
      const auto crossings = equatorial_crossings(a, inclination, at, 1);
      ASSERT_EQ(crossings.size(), 1U);
      const auto [lambda, eta] = photon_constants(a, inclination, at);
      const double a2 = a * a, half = (1 - (eta + lambda * lambda) / a2) / 2, root = std::sqrt(half * half + eta / a2);
      const double up = half + root, down = half - root;
      const double from = std::asin(std::cos(inclination) / std::sqrt(up));
      const auto polar = [&](double x) { return std::abs(a) * std::sqrt(up * std::sin(x) * std::sin(x) - down); };
      const auto radial = [&](double u) {
        const double shear = eta + (lambda - a) * (lambda - a);
        return std::sqrt(1 + u * u * ((a2 - eta - lambda * lambda) + u * (2 * shear - u * a2 * eta)));
      };
      const double u = 1 / crossings[0].radius;
      ASSERT_GT(crossings[0].inward, 0);
      const double tau = simpson([&](double x) { return 1 / polar(x); }, 0, from);
      EXPECT_NEAR(simpson([&](double v) { return 1 / radial(v); }, 0, u), tau, 1e-8 * tau);
      const double turned =
          simpson([&](double x) { return lambda / (1 - up * std::sin(x) * std::sin(x)) / polar(x); }, 0, from);
      const double dragged =
          simpson([&](double v) { return a * v * (2 - a * lambda * v) / (1 - 2 * v + a2 * v * v) / radial(v); }, 0, u);
      EXPECT_NEAR(std::remainder(crossings[0].azimuth + turned + dragged, 2 * pi), 0, 1e-7);
    }
}

TEST(Ray, MeetsThePlaneOfSchwarzschildFaceOnAtTheKnownRadius) {
  // Face on the plane is met after a quarter turn: int_0^u dv / sqrt(1/b^2 - v^2 + 2 v^3) = pi / 2.
  const double b = 8;
  const auto crossings = equatorial_crossings(0, 0, {0, b}, 1);
  ASSERT_EQ(crossings.size(), 1U);
  const double u = 1 / crossings[0].radius;
  EXPECT_NEAR(simpson([&](double v) { return 1 / std::sqrt(1 / (b * b) - v * v + 2 * v * v * v); }, 0, u), pi / 2,
              1e-6);
}

TEST(Ray, WindsPiTimesMoreForEachImage) {
  // Just outside the critical curve a ray meets the plane again and again, near the photon orbit at r = 3.
  const auto crossings = equatorial_crossings(0, 0.3, {0, std::sqrt(27.0) * (1 + 1e-6)}, 4);
  ASSERT_EQ(crossings.size(), 4U);
  EXPECT_NEAR(crossings[2].radius, 3, 0.1);
}

TEST(Ray, CrossesThePoleSmoothly) {
  // A ray through the axis itself: lambda = 0 and the azimuth jumps by pi, nothing else.
  const auto beside = equatorial_crossings(0.8, 0.7, {1e-7, 7}, 1), through = equatorial_crossings(0.8, 0.7, {0, 7}, 1);
  ASSERT_EQ(beside.size(), 1U);
  ASSERT_EQ(through.size(), 1U);
  EXPECT_NEAR(beside[0].radius, through[0].radius, 1e-5);
}

TEST(Ray, InSinglePrecisionStaysNearTheDouble) {
  Ray<double> fine(0.9, std::sin(1.0), std::cos(1.0), -3, 5);
  Ray<float> coarse(0.9F, std::sin(1.0F), std::cos(1.0F), -3, 5);
  for (int i = 0; i < 30; ++i) {
    fine.step(0.01);
    coarse.step(0.01F);
    // Rounding of 30 steps; nearby rays diverge by no more than e^3 until then.
    EXPECT_NEAR(coarse.u(), fine.u(), 1e-4);
    EXPECT_NEAR(coarse.n()[2], fine.n()[2], 1e-4);
  }
}

}  // namespace
}  // namespace penumbra::blackhole
