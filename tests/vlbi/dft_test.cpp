/// Visibilities of images whose Fourier transform is known.
#include "vlbi/dft.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numbers>

#include "vlbi/golden.h"

namespace penumbra::vlbi {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

std::vector<Complex> visibilities(const Observation& observation, const PixelGrid& grid, const Tensor& image) {
  const auto V = dft_matrix(observation, grid).matmul(image.flatten()).view({2, -1});
  std::vector<Complex> result;
  for (int64_t k = 0; k < V.size(1); ++k) result.emplace_back(V[0][k].item<double>(), V[1][k].item<double>());
  return result;
}

/// 6 rows, 9 columns, 4 uas: the pixel of row 1, column 7 lies 1.5 pixels North and 3 pixels West of the middle.
TEST(Dft, APointTurnsThePhaseByItsPlace) {
  const auto observation = test::synthetic_observation(4, 2);
  const double pixel = 4 * microarcsecond;
  auto image = at::zeros({6, 9}, at::kDouble);
  image[1][7] = 2.5;
  const double east = -3 * pixel, north = 1.5 * pixel;
  for (const auto pulse : {Pulse::delta, Pulse::triangle}) {
    const auto V = visibilities(observation, {6, 9, pixel, pulse}, image);
    for (size_t k = 0; k < V.size(); ++k) {
      const auto& row = observation.visibilities[k];
      const auto sinc = [](double t) { return t == 0 ? 1 : std::sin(pi * t) / (pi * t); };
      const double size = pulse == Pulse::delta ? 2.5 : 2.5 * std::pow(sinc(row.u * pixel) * sinc(row.v * pixel), 2);
      // Phases of some radians, rounded to 16 digits.
      EXPECT_LT(std::abs(V[k] - std::polar(size, 2 * pi * (row.u * east + row.v * north))), 1e-14);
    }
  }
}

/// exp(-r^2 / (2 s^2)) / (2 pi s^2) has the transform exp(-2 pi^2 s^2 |(u, v)|^2). Pixels of s/4 add no copies of it,
/// and the image's edge at 5.9 s cuts off less than 1e-8.
TEST(Dft, AGaussianIsAGaussian) {
  const auto observation = test::synthetic_observation(4, 2);
  constexpr int64_t side = 48;
  const double s = 8 * microarcsecond, pixel = s / 4;
  const auto at = (at::arange(side, at::kDouble) - 0.5 * (side - 1)) / 4;
  const auto image = (-0.5 * (at.square().unsqueeze(0) + at.square().unsqueeze(1))).exp() / (16 * 2 * pi);
  const auto V = visibilities(observation, {side, side, pixel, Pulse::delta}, image);
  for (size_t k = 0; k < V.size(); ++k) {
    const auto& row = observation.visibilities[k];
    const double expected = std::exp(-2 * pi * pi * s * s * (row.u * row.u + row.v * row.v));
    EXPECT_LT(std::abs(V[k] - expected), 1e-7);
  }
}

}  // namespace
}  // namespace penumbra::vlbi
