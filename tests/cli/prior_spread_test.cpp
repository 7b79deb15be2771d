/// X.sd.json beside X.safetensors: from draws, from the training images, and what a run makes of it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/training_folder.h"
#include "io/npy.h"
#include "io/weights.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct PriorSpread : TrainingFolder {
  PriorSpread()
      : TrainingFolder(40, R"(
data: {folder: pictures, image_shape: [1, 8, 8], validation_share: 0.2}
network: {model_channels: 32, num_res_blocks: 1, channel_mult: [1], num_head_channels: 32}
training: {steps: 2, batch: 6, learning_rate: 2e-3, validation_images: 8, bands: 2}
output: {name: slopes, storage: float32, licence: CC0}
seed: 3
)") {}
};

TEST_F(PriorSpread, DrawsWriteTheirSpreadForAPriorsFile) {
  must_train("run");
  const auto trained = folder / "run" / "prior.safetensors", prior = folder / "old.safetensors";
  const auto out = folder / "drawn", map = folder / "maps" / "old.sd.json";
  // As before headers held the spread.
  auto old = io::read_weights(trained);
  old.header.erase("pixel_sd");
  io::write_safetensors(prior, old.tensors, old.header);
  const auto generate = [&](const std::string& count, const fs::path& from, const fs::path& to) {
    return penumbra({"generate", "--prior", from.string(), "--count", count, "--steps", "4", "--out", out.string(),
                     "--store-sd", to.string(), "--compute", "float32"});
  };
  expect_refused(generate("4", prior, map), {"--store-sd: expected --count of 16 or more, found 4"});
  expect_refused(generate("16", prior, folder / "map.json"),
                 {"--store-sd: expected a file whose name ends in .sd.json"});
  const auto yaml = folder / "prior.yaml";
  write_text(yaml, "prior: {kind: network, file: run/prior.safetensors, compute: float32}\n");
  expect_refused(generate("16", yaml, map), {"--store-sd: expected --prior to be a file of weights"});
  EXPECT_TRUE(contains(generate("16", trained, map).err, "has an SD in its header, which comes before any file"));
  fs::remove_all(out);  // of another prior
  const auto result = generate("16", prior, map);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(contains(result.err, "has an SD in its header")) << result.err;
  EXPECT_TRUE(contains(result.out, map.string())) << result.out;
  const auto stored = json::parse(read_text(map));
  EXPECT_EQ(stored["from"].get<std::string>(), "16 draws");
  const auto sd = io::read_npy(out / "sd.npy").flatten();
  EXPECT_NEAR(stored["sd"][9].get<double>(), sd[9].item<double>(), 1e-3 * sd[9].item<double>()) << "four digits";
}

TEST_F(PriorSpread, TheSpreadAloneIsThatOfTheTrainedPriorsHeader) {
  must_train("run");
  const auto map = folder / "slopes.sd.json";
  const auto write = [&](const Words& more) {
    Words args{"train", config.string(), "--pixel-sd", map.string()};
    args.insert(args.end(), more.begin(), more.end());
    return penumbra(args);
  };
  const auto result = write({"--device", "cpu"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, map.string() + "\n");
  const auto stored = json::parse(read_text(map));
  EXPECT_EQ(stored, io::read_weights(folder / "run" / "prior.safetensors").header["pixel_sd"]);
  EXPECT_GT(stored["sd"][63].get<double>(), 0);

  expect_refused(write({"--out", (folder / "other").string()}), {"--pixel-sd", "--out"});
  expect_refused(write({"--resume"}), {"--pixel-sd", "--resume"});
  expect_refused(penumbra({"train", config.string()}), {"--out: expected the folder of the run"});
  expect_refused(penumbra({"train", config.string(), "--pixel-sd", "x.json"}),
                 {"--pixel-sd: expected a file whose name"});
}

TEST_F(PriorSpread, AMapBesideAnOldPriorShowsWhatTheDataDecided) {
  must_train("run");
  const auto prior = folder / "old.safetensors", map = folder / "old.sd.json";
  auto old = io::read_weights(folder / "run" / "prior.safetensors");
  const auto spread = old.header["pixel_sd"];
  old.header.erase("pixel_sd");
  io::write_safetensors(prior, old.tensors, old.header);
  write_text(folder / "sample.yaml", R"(
prior: {kind: network, file: old.safetensors, compute: float32}
likelihood: {kind: none}
sampler: {kind: pmc-red, sigma: 0.1, step_size: 1e-3, steps: 5}
chains: 4
)");
  const auto sample = [&](const std::string& run) {
    return penumbra({"sample", (folder / "sample.yaml").string(), "--out", (folder / run).string(), "--device", "cpu"});
  };
  EXPECT_FALSE(contains(penumbra({"info", prior.string()}).out, "pixel SD"));
  ASSERT_EQ(sample("without").code, 0);
  EXPECT_FALSE(summary("without")["data_share"]["known"].get<bool>());

  write_text(map, spread.dump());
  EXPECT_TRUE(contains(penumbra({"info", prior.string()}).out, "training images, in " + map.string()));
  ASSERT_EQ(sample("with").code, 0);
  EXPECT_EQ(summary("with")["data_share"]["prior_sd_from"], spread["from"]);
  EXPECT_EQ(io::read_npy(folder / "with" / "prior_sd.npy").flatten()[9].item<float>(), spread["sd"][9].get<float>());

  write_text(map, R"({"shape": [1, 8, 8], "sd": [1], "from": "x"})");
  expect_refused(sample("broken"), {map.string() + ": sd: expected 64 numbers"});
  EXPECT_TRUE(contains(penumbra({"info", prior.string()}).out, map.string() + ": sd: expected 64 numbers"));
}

}  // namespace
}  // namespace penumbra::test
