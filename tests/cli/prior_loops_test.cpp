/// assess --loops: how conservative a prior's score is.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;

/// A Gaussian prior on 4x4 pixels and so many images.
fs::path folder_with(int images) {
  const auto folder = test::scratch();
  test::write_text(folder / "prior.yaml", "prior: {kind: gaussian, image_shape: [1, 4, 4], variance: 0.25}\n");
  fs::create_directories(folder / "images");
  for (int i = 0; i < images; ++i)
    io::write_npy(folder / "images" / (std::to_string(i) + ".npy"),
                  at::arange(16, at::kFloat).reshape({4, 4}).sin() * (0.2 * i));
  return folder;
}

test::Result loops(const fs::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> args{"assess", "--prior", folder / "prior.yaml", "--images", folder / "images"};
  args.insert(args.end(), more.begin(), more.end());
  return test::penumbra(args);
}

// The prior is in float32: 1e-7 of |v| |x| / sigma^2, some ten nats here at sigma 0.5.
TEST(PriorLoops, OfAGaussianAreZeroToRounding) {
  const auto folder = folder_with(5);
  const auto result = loops(folder, {"--loops", "6", "--sigma", "0.5,1", "--seed", "3", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["loops"].get<int>(), 6);
  EXPECT_EQ(found["images"].get<int>(), 5);
  ASSERT_EQ(found["table"].size(), 2u);
  for (const auto& row : found["table"]) {
    EXPECT_LT(row["loop_rms"].get<double>(), 1e-4);
    EXPECT_LT(row["quadrature_rms"].get<double>(), 1e-4);
    EXPECT_GT(row["side_rms"].get<double>(), 0.1);
    EXPECT_EQ(row["evaluations"].get<int>(), 6 * 3 * 16);
  }
  // Three noises on one image: only the noise lies between the corners, sqrt(2) sigma a pixel. Of 6 * 16 * 2 free
  // numbers the RMS is known to 1 / sqrt(2 * 192) = 0.051; four times that.
  const auto one = loops(folder, {"--loops", "6", "--sigma", "0.5", "--spread", "0", "--json"});
  const auto length = nlohmann::json::parse(one.out)["table"][0]["side_length_rms"].get<double>();
  EXPECT_NEAR(length / (0.5 * std::sqrt(2.0)), 1, 0.2);
}

TEST(PriorLoops, TheTableIsForPeople) {
  const auto result = loops(folder_with(3), {"--loops", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("triangles between three of 3 images: 1"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("loop/side"), std::string::npos);
}

TEST(PriorLoops, BadInputIsRefused) {
  const auto folder = folder_with(2);
  const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
    const auto result = loops(folder, more);
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  refused({"--loops", "2"}, "at least 3 images, the corners of a triangle, found 2");
  refused({"--loops", "0"}, "--loops");
  refused({"--spread", "0.5"}, "--loops");
  refused({"--loops", "2", "--spread", "2"}, "--spread");
  const auto odd = loops(folder_with(3), {"--loops", "1", "--intervals", "6"});
  EXPECT_EQ(odd.code, 2);
  EXPECT_NE(odd.err.find("multiple of 4"), std::string::npos) << odd.err;
}

}  // namespace
}  // namespace penumbra
