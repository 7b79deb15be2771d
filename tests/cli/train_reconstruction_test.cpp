/// From a folder of images to a network that reconstructs, and on to the image that it makes of data.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/training_folder.h"
#include "io/npy.h"
#include "io/weights.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"
#include "team/backend.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Half of the k-space of 30 pictures.
struct TrainReconstruction : TrainingFolder {
  TrainReconstruction()
      : TrainingFolder(30, R"(
task: {kind: reconstruction, likelihood: {kind: mri, mask: {kind: cartesian, acceleration: 2}}, snr_db: 30}
data: {folder: pictures, image_shape: [1, 8, 8], validation_share: 0.2}
network: {cascades: 2, model_channels: 4, channel_mult: [1, 2]}
training: {steps: 12, batch: 6, learning_rate: 2e-3, warm_up: 2, ema_decay: 0.5, log_every: 5, validate_every: 6,
           validation_images: 8}
output: {name: tiny, storage: float32}
seed: 3
)") {}

  io::Weights network(const std::string& run) const { return io::read_weights(folder / run / "network.safetensors"); }
  void expect_same(const std::string& found, const std::string& expected) const {
    const auto a = network(found).tensors, b = network(expected).tensors;
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, tensor] : b) EXPECT_TRUE(at::equal(a.at(name), tensor)) << name;
  }
};

TEST_F(TrainReconstruction, WritesANetworkAndItsRecord) {
  const auto result = penumbra(words("run"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "  held-out images: loss ")) << result.out;
  EXPECT_FALSE(contains(result.out, "sigma")) << result.out;
  const auto header = network("run").header;
  EXPECT_EQ(header["parameterisation"]["kind"].get<std::string>(), "reconstruction");
  EXPECT_FALSE(header.contains("sigma_range"));
  const auto task = header["record"]["task"];
  EXPECT_TRUE(contains(task["likelihood"].get<std::string>(), "acceleration: 2")) << task;
  EXPECT_EQ(task["snr_db"].get<double>(), 30);
  // Dark pictures, most pixels about -0.5: the RMS of half of k-space is near 1, the noise 30 dB below.
  EXPECT_GT(task["noise_sd"].get<double>(), 0.005);
  EXPECT_LT(task["noise_sd"].get<double>(), 0.05);
  EXPECT_TRUE(contains(read_text(folder / "run" / "validation.csv"), "step,weights,loss,psnr\n"));
  const auto report = read_text(folder / "run" / "report.html");
  EXPECT_TRUE(contains(report, "Held-out images from their simulated measurements"));
  EXPECT_FALSE(contains(report, "sigma 0 to 0"));
  const auto info = penumbra({"info", (folder / "run" / "network.safetensors").string()});
  EXPECT_TRUE(contains(info.out, "reconstruction network and its weights")) << info.out << info.err;
  const auto plan = json::parse(penumbra({"info", config.string(), "--json"}).out);
  EXPECT_EQ(plan["task"].get<std::string>(), "reconstruction");
  // config.yaml reruns the run.
  const auto again = penumbra(
      {"train", (folder / "run" / "config.yaml").string(), "--out", (folder / "again").string(), "--device", "cpu"});
  ASSERT_EQ(again.code, 0) << again.err;
  expect_same("again", "run");
}

TEST_F(TrainReconstruction, AnInterruptedRunContinuesBitForBit) {
  const Words longer{"--set", "training.steps=200", "--set", "training.checkpoint_every_s=0.02"};
  must_train("reference", longer);
  const auto pid = start(words("run", longer));
  for (int wait = 0; wait < 60'000 && !fs::exists(folder / "run" / "network.safetensors"); ++wait) usleep(1000);
  kill(pid, SIGTERM);
  ASSERT_EQ(wait_for(pid), 130);
  auto resumed = longer;
  resumed.push_back("--resume");
  must_train("run", resumed);
  expect_same("run", "reference");
}

/// Sums of float32 in another order; a large epsilon keeps Adam's steps proportional to the gradient.
TEST_F(TrainReconstruction, TwoProcessesTrainAsOne) {
  if (!can_connect(at::kCPU)) GTEST_SKIP() << "this LibTorch's Gloo cannot be used";
  const Words smooth{"--set", "training.epsilon=1e-2", "--set", "training.batch=7"};
  must_train("one", smooth);
  for (const auto& result : penumbra_team(2, words("two", smooth))) ASSERT_EQ(result.code, 0) << result.err;
  const auto found = network("two").tensors;
  for (const auto& [name, tensor] : network("one").tensors)
    EXPECT_LT((found.at(name) - tensor).abs().max().item<double>(), 1e-6) << name;
}

TEST_F(TrainReconstruction, ItsNetworkAnswersForData) {
  must_train("run");
  write_text(folder / "scan.yaml", R"(
prior: {kind: random_field, side: 8, modes: 4}
likelihood: {kind: mri, mask: {kind: cartesian, acceleration: 2}, noise_sd: 0.01, data: y.npy}
sampler: {kind: varnet, file: run/network.safetensors}
)");
  io::write_npy(folder / "x.npy", at::full({1, 8, 8}, 0.5));
  const auto scan = (folder / "scan.yaml").string(), out = (folder / "sampled").string();
  auto result =
      penumbra({"observe", scan, "--truth", (folder / "x.npy").string(), "--out", (folder / "y.npy").string()});
  ASSERT_EQ(result.code, 0) << result.err;
  result = penumbra({"sample", scan, "--out", out, "--device", "cpu"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto mean = io::read_npy(fs::path(out) / "mean.npy");
  // Half of k-space, with its centre, holds nearly all of a flat image.
  EXPECT_LT((mean - 0.5).abs().mean().item<double>(), 0.1);
  EXPECT_TRUE(fs::exists(fs::path(out) / "report.html"));
}

TEST_F(TrainReconstruction, BadInputIsNamed) {
  const auto refused = [&](const std::string& assignment, const Words& parts) {
    const auto result = penumbra(words("bad", {"--set", assignment}));
    EXPECT_EQ(result.code, 2) << result.out;
    for (const auto& part : parts) EXPECT_TRUE(contains(result.err, part)) << part << "\nnot in: " << result.err;
  };
  refused("task.kind=guessing", {"task.kind: expected one of denoising, reconstruction"});
  refused("task.likelihood.kind=none", {"task.likelihood.kind: expected a linear model"});
  refused("task.likelihood.mask.kind=data", {"task.likelihood.mask.kind"});
  refused("network.kind=unet", {"network.kind: expected one of varnet"});
  refused("network.cascades=0", {"network.cascades: expected an integer"});
  refused("network.channel_mult=[1, 1, 1, 1, 1]", {"network.channel_mult", "multiples of 16"});
  refused("sigma.low=0.1", {"sigma: unknown key"});
  refused("training.bands=3", {"training.bands: unknown key"});
  // The other task wants another network.
  refused("task.kind=denoising", {"network.kind: no such network can be built"});
}

}  // namespace
}  // namespace penumbra::test
