#include "models/espirit.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/kspace.h"
#include "models/coil_noise.h"
#include "models/fourier.h"
#include "models/sampling_mask.h"
#include "support/paths.h"
#include "support/scan.h"

namespace penumbra {
namespace {

Tensor centre_of(const Tensor& kspace, int64_t size) { return around_centre(around_centre(kspace, 1, size), 2, size); }

struct Espirit : testing::Test {
  static constexpr int64_t height = 60, width = 47, coils = 6;
  Tensor object = test::phantom(height, width), truth = test::smooth_coils(coils, height, width);
  // The largest sample is near 30: noise of 0.01 is far below the signal of the centre.
  Tensor kspace = centred_fft(truth * object) + 0.01 * test::complex_noise({coils, height, width}, 1);
};

TEST_F(Espirit, FindsSmoothCoilsUpToAPhase) {
  const auto maps = espirit_maps(centre_of(kspace, 24), height, width);
  const auto exact = truth / truth.norm(2, {0}, true);
  const auto inside = object > 0.1;
  // |S - e^{i phi} S_true|^2 = 2 - 2 |<S, S_true>| for unit vectors and the best phase.
  const auto overlap = at::abs((maps.conj() * exact).sum(0));
  const auto error2 = (2 - 2 * overlap).masked_select(inside);
  EXPECT_LT(std::sqrt(error2.mean().item<double>()), 0.03);
  EXPECT_LT(error2.max().item<double>(), 0.1 * 0.1);
}

TEST_F(Espirit, MapsAreNormalisedOrZero) {
  const auto maps = espirit_maps(centre_of(kspace, 24), height, width);
  const auto power = at::abs(maps).square().sum(0);
  EXPECT_LT(at::min(power, (power - 1).abs()).max().item<double>(), 1e-12);
  EXPECT_TRUE(power.masked_select(object > 0.1).gt(0.5).all().item<bool>());
  EXPECT_TRUE(power.lt(0.5).any().item<bool>());  // a corner of the field of view is empty
}

TEST_F(Espirit, ThePrincipalCoilIsRealAndPositive) {
  const auto centre = centre_of(kspace, 24);
  const auto maps = espirit_maps(centre, height, width);
  const auto samples = centre.flatten(1);
  const auto principal = std::get<1>(at::linalg_eigh(samples.matmul(samples.conj().t()))).select(1, coils - 1);
  const auto virtual_coil = (principal.conj().view({coils, 1, 1}) * maps).sum(0);
  EXPECT_LT(at::imag(virtual_coil).abs().max().item<double>(), 1e-12);
  EXPECT_GE(at::real(virtual_coil).min().item<double>(), 0);
}

TEST(EspiritOnAScan, KeepsTheEnergyOfTheCoilImages) {
  const auto file = test::shared("data/kspace/espirit_full8ch/full.cfl");
  if (!file) GTEST_SKIP() << "no ../shared/data here";
  const auto kspace = io::read_kspace(*file).samples.to(at::kComplexDouble);
  const auto maps = espirit_maps(centre_of(kspace, 24), kspace.size(1), kspace.size(2));
  const auto images = centred_ifft(kspace);
  const auto projected = maps * (maps.conj() * images).sum(0);
  // White or not, the noise of 8 coils has 1.4 % of this scan's energy, of which one map keeps an eighth where it sees
  // something; what is asked of the maps is the rest.
  const auto covariance = robust_noise_covariance(outermost_samples(kspace, at::ones({230, 180}, at::kBool), 0.1));
  const double noise = 2 * at::real(covariance.diagonal()).sum().item<double>() * 230 * 180;
  const double seen = maps.ne(0).any(0).to(at::kDouble).mean().item<double>();
  const double kept = projected.norm().square().item<double>() - noise * seen / 8,
               all = images.norm().square().item<double>() - noise;
  EXPECT_GT(kept / all, 0.99);
  EXPECT_LT(kept / all, 1.005);
}

}  // namespace
}  // namespace penumbra
