/// The priors of priors/: each is whole, described, and better on its own kind of image than a denoiser of one level.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "io/file.h"
#include "io/image.h"
#include "priors/contract.h"
#include "priors/network.h"
#include "priors/pixel_sd.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;

struct Shipped {
  const char* name;
  Shape shape;
  const char* images;  ///< of ../shared, or ""
  double black = -1;
};

void PrintTo(const Shipped& shipped, std::ostream* out) { *out << shipped.name; }

struct ShippedPriors : testing::TestWithParam<Shipped> {
  const fs::path file = shipped_prior(GetParam().name);
  std::shared_ptr<const Score> prior() const {
    const auto text = fmt::format("{{kind: network, name: {}, compute: float32}}", GetParam().name);
    return make_prior(Settings::from_text(text, "prior.yaml"), {at::kFloat, at::kCPU});
  }
};

TEST_P(ShippedPriors, HasACardAPictureAndItsConfiguration) {
  EXPECT_LE(fs::file_size(file), 31e6);
  EXPECT_TRUE(fs::exists(fs::path(file).replace_extension("png")));
  EXPECT_TRUE(fs::exists(fs::path(file).replace_extension("yaml")));
  const auto card = io::read_file(fs::path(file).replace_extension("md"));
  for (const auto* part : {"licence", "steps of", "Denoising images", "Validation loss per band", "Known limits"})
    EXPECT_TRUE(test::contains(card, part)) << part;
}

TEST_P(ShippedPriors, SaysHowFarItsImagesStray) {
  // Headers of late hold it themselves.
  const auto beside = fs::path(file).replace_extension("sd.json");
  if (fs::exists(beside)) {
    EXPECT_LE(fs::file_size(beside), 40e3);
  }
  const auto network = prior();
  const auto stored = stored_pixel_sd(*network);
  ASSERT_TRUE(stored);
  EXPECT_TRUE(test::contains(stored->from, "training images")) << stored->from;
  EXPECT_EQ(stored->sd.sizes(), at::IntArrayRef(GetParam().shape));
  // Nothing strays further than half of its range; the middle of such images does by more than a hundredth.
  const auto [low, high] = *network->pixel_range();
  EXPECT_LE(stored->sd.max().item<double>(), (high - low) / 2);
  const auto side = GetParam().shape[1];
  EXPECT_GE(stored->sd.narrow(1, side / 4, side / 2).narrow(2, side / 4, side / 2).min().item<double>(),
            (high - low) / 100);
}

TEST_P(ShippedPriors, LoadsAndDenoisesAFlatImage) {
  c10::NoGradGuard no_gradients;
  const auto network = prior();
  EXPECT_EQ(network->image_shape(), GetParam().shape);
  // An image that none of them has seen, but noise is noise: most of its power must go.
  const double sigma = 0.2;
  const auto black = at::full({1, 1, GetParam().shape[1], GetParam().shape[2]}, GetParam().black, at::kFloat);
  const auto noisy = black + sigma * normal({1, 0, 0}, Stream::probe, black);
  const auto error = (network->denoise(noisy, sigma) - black).square().mean().item<double>();
  EXPECT_LT(error, sigma * sigma / 2);
}

TEST_P(ShippedPriors, BeatsDnCnnOnItsOwnKindOfImageByHalfADecibel) {
  if (GetParam().shape[1] < 128) GTEST_SKIP() << "a small sibling is not held to that";
  const auto weights = test::shared("data/denoisers/kair_MIT/dncnn_25.pth"), folder = test::shared(GetParam().images);
  if (!weights || !folder) GTEST_SKIP() << "no ../shared/data here";
  c10::NoGradGuard no_gradients;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(*folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const double sigma = 2 * 25.0 / 255;
  const auto text = fmt::format(
      "{{kind: network, file: {}, compute: float32, pixel_range: [-1, 1], network_pixel_range: [0, 1], "
      "sigma_range: [{}, {}], image_shape: [1, {}, {}]}}",
      weights->string(), sigma / 2, sigma / 2, GetParam().shape[1], GetParam().shape[2]);
  const auto dncnn = make_prior(Settings::from_text(text, "prior.yaml"), {at::kFloat, at::kCPU});
  const auto network = prior();
  double gain = 0;
  const int64_t count = 4;
  for (int64_t i = 0; i < count; ++i) {
    const auto path = files[static_cast<size_t>(i) * files.size() / count];
    const auto x = io::read_image(path).to(at::kFloat).unsqueeze(0);
    const auto noisy = x + sigma * normal({2, i, 0}, Stream::probe, x);
    const auto error = [&](const Score& score) {
      return (score.denoise(noisy, sigma) - x).square().mean().item<double>();
    };
    gain += 10 * std::log10(error(*dncnn) / error(*network)) / static_cast<double>(count);
  }
  EXPECT_GT(gain, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Every, ShippedPriors,
                         testing::Values(Shipped{"face-64", {1, 64, 64}, ""}, Shipped{"brain-64", {1, 64, 64}, ""},
                                         Shipped{"face-128", {1, 128, 128}, "data/face128/test"},
                                         Shipped{"brain-256", {1, 256, 256}, "data/brain256/test"},
                                         Shipped{"blackhole-64", {1, 64, 64}, "", 0},
                                         Shipped{"blackhole-64-small", {1, 64, 64}, "", 0}));

}  // namespace
}  // namespace penumbra
