/// penumbra blackholes, and training on what it makes, without files.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/image.h"
#include "io/npy.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void expect_refused(const Result& result, const Words& parts) {
  EXPECT_EQ(result.code, 2) << result.err;
  for (const auto& part : parts) EXPECT_TRUE(contains(result.err, part)) << part << "\nnot in: " << result.err;
}

Words blackholes(const fs::path& out, Words more = {}) {
  Words args{"blackholes", "--count", "5", "--size", "16", "--seed", "3", "--out", out.string(), "--device", "cpu"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(BlackHolesCommand, WritesAnArrayAndAPicture) {
  const auto folder = scratch();
  const auto result = penumbra(blackholes(folder / "deep" / "images.npy"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "5 images of 16x16, seed 3"));
  const auto images = io::read_npy(folder / "deep" / "images.npy");
  EXPECT_EQ(images.sizes(), at::IntArrayRef({5, 1, 16, 16}));
  EXPECT_EQ(images.scalar_type(), at::kFloat);
  EXPECT_GE(images.min().item<double>(), 0);
  EXPECT_LE(images.max().item<double>(), 1);
  EXPECT_GT(images.amax({1, 2, 3}).min().item<double>(), 0.59);
  // Two rows of three with a line between.
  EXPECT_GE(io::read_image(folder / "deep" / "images.png").size(2), 3 * 16);
}

TEST(BlackHolesCommand, WritesAFolderThatCanBeTrainedOn) {
  const auto folder = scratch();
  ASSERT_EQ(penumbra(blackholes(folder / "holes", {"--png"})).code, 0);
  ASSERT_EQ(penumbra(blackholes(folder / "images.npy")).code, 0);
  const auto images = io::read_npy(folder / "images.npy");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "holes"), {}), 5);
  EXPECT_TRUE(fs::exists(folder / "holes.png"));
  const auto third = io::read_image(folder / "holes" / "0000003.png", 0, 1);
  // Eight bits.
  EXPECT_LE((third - images[3]).abs().max().item<double>(), 0.5 / 255 + 1e-6);
}

TEST(BlackHolesCommand, RefusesWhatItCannotDo) {
  const auto folder = scratch();
  expect_refused(penumbra(blackholes(folder / "images.fits")), {"--out", ".npy", "images.fits"});
  write_text(folder / "b.png", "somebody's");
  expect_refused(penumbra(blackholes(folder / "b.npy")), {"--out", "b.png", "there already"});
  expect_refused(penumbra(blackholes(folder / "a.npy", {"--spin", "-2", "0"})),
                 {"--spin", "-0.998 to 0.998", "[-2, 0]"});
  expect_refused(penumbra(blackholes(folder / "a.npy", {"--position-angle", "90", "10"})), {"--position-angle"});
  expect_refused(penumbra({"blackholes", "--count", "10000000", "--size", "512", "--out", (folder / "a.npy").string()}),
                 {"--count", "10000000 images of 512x512", "GiB"});
  fs::create_directories(folder / "b.npy");
  expect_refused(penumbra(blackholes(folder / "b.npy")), {"--out", "folder"});
  EXPECT_FALSE(fs::exists(folder / "a.npy"));
}

struct BlackHoleTraining : testing::Test {
  fs::path folder = scratch(), config = folder / "train.yaml";

  BlackHoleTraining() {
    write_text(config, R"(
data: {blackholes: {count: 24, seed: 5, validation_count: 6}, image_shape: [1, 16, 16]}
network: {model_channels: 32, num_res_blocks: 1, channel_mult: [1], num_head_channels: 32}
training: {steps: 8, batch: 4, learning_rate: 1e-3, warm_up: 2, ema_decay: 0.5, log_every: 4, validate_every: 4,
           validation_images: 6, bands: 2, sample_every: 0}
output: {name: holes, storage: float32}
)");
  }
  Result train(const std::string& run, const Words& more = {}) const {
    Words args{"train", config.string(), "--out", (folder / run).string(), "--device", "cpu"};
    args.insert(args.end(), more.begin(), more.end());
    return penumbra(args);
  }
};

TEST_F(BlackHoleTraining, NeedsNoFiles) {
  const auto result = train("run");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto summary = nlohmann::json::parse(read_text(folder / "run" / "summary.json"));
  EXPECT_EQ(summary["data"]["folder"].get<std::string>(), "24 generated black holes, seed 5");
  EXPECT_EQ(summary["data"]["train"].get<int64_t>(), 24);
  EXPECT_EQ(summary["data"]["validation"].get<int64_t>(), 6);
  // The configuration that the run resolved makes the same run again.
  const auto again = penumbra(
      {"train", (folder / "run" / "config.yaml").string(), "--out", (folder / "again").string(), "--device", "cpu"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read_text(folder / "again" / "prior.safetensors").size(),
            read_text(folder / "run" / "prior.safetensors").size());
  EXPECT_EQ(read_text(folder / "again" / "provenance.json"), read_text(folder / "run" / "provenance.json"));
  EXPECT_TRUE(contains(read_text(folder / "run" / "config.yaml"), "validation_seed: 6"));
}

TEST_F(BlackHoleTraining, KnowsOtherImagesByTheirSeed) {
  ASSERT_EQ(train("run").code, 0);
  ASSERT_EQ(train("other", {"--set", "data.blackholes.seed=7"}).code, 0);
  EXPECT_NE(read_text(folder / "other" / "provenance.json"), read_text(folder / "run" / "provenance.json"));
}

TEST_F(BlackHoleTraining, RefusesWhatMakesNoSense) {
  const auto refused = [&](const std::string& assignment, const Words& parts) {
    expect_refused(train("refused", {"--set", assignment}), parts);
    EXPECT_FALSE(fs::exists(folder / "refused"));
  };
  refused("data.folder=.", {"data.folder", "either blackholes or a folder"});
  refused("data.image_shape=[1, 16, 8]", {"data.image_shape", "[1, n, n]", "1x16x8"});
  refused("data.image_shape=[3, 16, 16]", {"data.image_shape"});
  refused("data.blackholes.validation_seed=5", {"data.blackholes.validation_seed", "another seed"});
  refused("data.blackholes.count=1", {"data.blackholes.count"});
  refused("data.blackholes.spin=[0, 2]", {"data.blackholes.spin", "-0.998 to 0.998"});
  refused("data.blackholes.spn=[0, 1]", {"data.blackholes.spn", "did you mean spin"});
}

TEST_F(BlackHoleTraining, SaysHowMuchMemoryItWouldNeed) {
  expect_refused(train("run", {"--set", "data.blackholes.count=10000000", "--set", "data.memory_gib=1"}),
                 {"10000006 images of 1x16x16 as floats", "the limit is 1 GiB"});
}

TEST_F(BlackHoleTraining, InfoSaysWhatItTrainsOn) {
  const auto result = penumbra({"info", config.string()});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "24 generated black holes, seed 5"));
}

}  // namespace
}  // namespace penumbra::test
