/// From a folder of images to a prior that the other commands take; interrupted, shared, refused.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/training_folder.h"
#include "core/random.h"
#include "io/image.h"
#include "io/lock.h"
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

struct TrainCommand : TrainingFolder {
  TrainCommand()
      : TrainingFolder(40, R"(
data: {folder: pictures, image_shape: [1, 8, 8], validation_share: 0.2}
network: {model_channels: 32, num_res_blocks: 1, channel_mult: [1], num_head_channels: 32}
training: {steps: 12, batch: 6, learning_rate: 2e-3, warm_up: 2, ema_decay: 0.5, log_every: 5, validate_every: 6,
           validation_images: 8, bands: 2, sample_every: 6, samples: 4}
output: {name: slopes, storage: float32, licence: CC0}
seed: 3
)") {}

  std::map<std::string, Tensor> weights(const std::string& run) const {
    return io::read_weights(folder / run / "prior.safetensors").tensors;
  }
  /// The step of the last checkpoint; -1: none.
  int newest(const std::string& run) const {
    int k = -1;
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(folder / run / "checkpoint", none_yet))
      if (!entry.path().has_extension()) k = std::max(k, std::stoi(entry.path().filename()));
    return k;
  }
  /// Until there is one after step k.
  void wait_for_checkpoint(const std::string& run, int k = -1) const {
    for (int wait = 0; wait < 60'000 && newest(run) <= k; ++wait) usleep(1000);
  }
};

void expect_same_weights(const std::map<std::string, Tensor>& found, const std::map<std::string, Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
}

/// Long enough to be interrupted.
const Words long_run{"--set", "training.steps=150",      "--set", "training.checkpoint_every_s=0.02",
                     "--set", "training.sample_every=0", "--set", "training.validate_every=60"};
Words resumed(Words args) {
  args.push_back("--resume");
  return args;
}

TEST_F(TrainCommand, WritesAllThatItPromises) {
  const auto result = train("run");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");  // no progress without a terminal
  for (const auto* name : {"prior.safetensors", "history.csv", "validation.csv", "summary.json", "report.html",
                           "config.yaml", "provenance.json", "samples/step-00000006.png", "samples/step-00000012.png"})
    EXPECT_TRUE(fs::exists(folder / "run" / name)) << name;
  EXPECT_FALSE(fs::exists(folder / "run" / "checkpoint"));
  // Rows after steps 5, 10 and the last; the rate of the last step is the end of the cosine.
  const auto history = read_text(folder / "run" / "history.csv");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 4) << history;
  EXPECT_TRUE(contains(history, "\n12,72,")) << history;
  // Validations after steps 0, 6 and 12, of both kinds of weights, in two bands.
  const auto validation = read_text(folder / "run" / "validation.csv");
  EXPECT_EQ(std::count(validation.begin(), validation.end(), '\n'), 1 + 3 * 2 * 2) << validation;
  EXPECT_EQ(summary("run")["outcome"].get<std::string>(), "finished");
  EXPECT_TRUE(contains(summary("run")["verdict"].get<std::string>(), "On held-out images"));
  const auto header = io::read_weights(folder / "run" / "prior.safetensors").header;
  EXPECT_EQ(header["name"].get<std::string>(), "slopes");
  EXPECT_EQ(header["record"]["licence"].get<std::string>(), "CC0");
  EXPECT_EQ(header["pixel_sd"]["shape"], json({1, 8, 8}));
  EXPECT_TRUE(contains(header["pixel_sd"]["from"].get<std::string>(), "training images"));
  EXPECT_EQ(header["record"]["training"]["steps"].get<int>(), 12);
  // A configuration of before there were tasks is resolved as it was then: such a run can still be continued.
  EXPECT_FALSE(contains(read_text(folder / "run" / "config.yaml"), "task"));
  // config.yaml reruns the run.
  const auto again = penumbra(
      {"train", (folder / "run" / "config.yaml").string(), "--out", (folder / "again").string(), "--device", "cpu"});
  ASSERT_EQ(again.code, 0) << again.err;
  expect_same_weights(weights("again"), weights("run"));
}

TEST_F(TrainCommand, ThePriorServesTheOtherCommands) {
  must_train("run");
  const auto prior = (folder / "run" / "prior.safetensors").string();
  const auto yaml = (folder / "prior.yaml").string(), x = (folder / "x.npy").string(), out = (folder / "out").string();
  write_text(yaml, "prior: {kind: network, file: run/prior.safetensors, compute: float32}\n");
  io::write_npy(x, normal({1, 0, 0}, Stream::probe, at::empty({2, 1, 8, 8})));
  const auto expect_success = [](const Words& args) {
    const auto result = penumbra(args);
    EXPECT_EQ(result.code, 0) << args[0] << ": " << result.err;
    return result.out;
  };
  EXPECT_TRUE(contains(expect_success({"info", prior}), "slopes"));
  EXPECT_TRUE(contains(expect_success({"info", yaml}), "image_shape"));
  const auto run_info = json::parse(expect_success({"info", (folder / "run").string(), "--json"}));
  EXPECT_EQ(run_info["outcome"].get<std::string>(), "finished");
  EXPECT_TRUE(run_info["complete"].get<bool>());
  const auto config_info = json::parse(expect_success({"info", config.string(), "--json"}));
  EXPECT_EQ(config_info["kind"].get<std::string>(), "training configuration");
  EXPECT_EQ(config_info["steps"].get<int>(), 12);
  EXPECT_EQ(config_info["image_shape"], json({1, 8, 8}));
  expect_success({"score", "--prior", yaml, "--input", x, "--sigma", "0.5", "--output", out + "-score.npy"});
  expect_success({"denoise", "--prior", yaml, "--input", x, "--sigma", "0.5", "--output", out + "-denoised.npy"});
  expect_success({"generate", "--prior", yaml, "--count", "2", "--steps", "4", "--out", out});
  expect_success({"report", (folder / "run").string()});
  // Tweedie: D = x + sigma^2 S, in float32.
  const auto score = io::read_npy(out + "-score.npy"), denoised = io::read_npy(out + "-denoised.npy");
  EXPECT_LT(relative_error(denoised, io::read_npy(x) + 0.25 * score), 1e-5);
  EXPECT_EQ(io::read_npy(fs::path(out) / "samples.npy").sizes(), at::IntArrayRef({2, 1, 8, 8}));
}

TEST_F(TrainCommand, SmallNoiseLevelsAndSmallPixelsAreTrainedToo) {
  must_train("run", {"--set", "sigma={low: 1e-5, high: 1e-3}", "--set", "data.range=[0, 1e-3]"});
  EXPECT_TRUE(fs::exists(folder / "run" / "samples" / "step-00000012.png"));
  // The pixels' SD is about a fifth of their range.
  const auto header = io::read_weights(folder / "run" / "prior.safetensors").header;
  EXPECT_NEAR(header["parameterisation"]["sigma_data"].get<double>(), 2e-4, 1e-4);
}

TEST_F(TrainCommand, TheSpreadIsThatOfAllImages) {
  auto images = at::zeros({4096, 1, 8, 8});
  images.narrow(0, 3000, 1096).fill_(1);
  fs::create_directories(folder / "array");
  io::write_npy(folder / "array" / "images.npy", images);
  must_train("run", {"--set", "data.folder=array", "--set", "training.steps=1", "--set", "training.sample_every=0"});
  // A share of 1096 / 4096 = 0.27 is 1, the rest 0: SD sqrt(0.27 * 0.73) = 0.44, to the sampling error of 2048 images.
  const auto header = io::read_weights(folder / "run" / "prior.safetensors").header;
  EXPECT_NEAR(header["parameterisation"]["sigma_data"].get<double>(), 0.44, 0.03);
}

TEST_F(TrainCommand, APictureThatCannotBeWrittenIsAWarning) {
  fs::create_directories(folder / "run");
  write_text(folder / "run" / "samples", "in the way");
  const auto result = train("run");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "warning: no picture of samples after step 12")) << result.err;
  EXPECT_EQ(summary("run")["outcome"].get<std::string>(), "finished");
}

TEST_F(TrainCommand, AnInterruptedRunContinuesBitForBit) {
  must_train("reference", long_run);
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto run = "run" + std::to_string(signal);
    const auto pid = start(words(run, long_run));
    wait_for_checkpoint(run);
    kill(pid, signal);
    ASSERT_EQ(wait_for(pid), 130);
    EXPECT_TRUE(fs::exists(folder / run / "checkpoint"));
    EXPECT_FALSE(fs::exists(folder / run / "summary.json"));
    // The averaged weights so far, and their report.
    EXPECT_TRUE(fs::exists(folder / run / "report.html"));
    const auto so_far = io::read_weights(folder / run / "prior.safetensors").header["record"]["training"]["steps"];
    EXPECT_LT(so_far.get<int>(), 150);
    const auto result = train(run, resumed(long_run));
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(contains(result.err, "continuing after step")) << result.err;
    expect_same_weights(weights(run), weights("reference"));
    EXPECT_EQ(read_text(folder / run / "validation.csv"), read_text(folder / "reference" / "validation.csv"));
    EXPECT_FALSE(fs::exists(folder / run / "checkpoint"));
  }
}

TEST_F(TrainCommand, AKilledRunContinuesBitForBit) {
  must_train("reference", long_run);
  for (const int delay_ms : {0, 5, 20}) {
    const int before = newest("run");
    const auto pid = start(words("run", resumed(long_run)));
    wait_for_checkpoint("run", before);
    usleep(1000 * delay_ms);
    kill(pid, SIGKILL);
    ASSERT_EQ(wait_for(pid), -SIGKILL);
    // What is there is whole.
    if (fs::exists(folder / "run" / "prior.safetensors")) {
      EXPECT_FALSE(weights("run").empty());
    }
  }
  must_train("run", resumed(long_run));
  expect_same_weights(weights("run"), weights("reference"));
}

TEST_F(TrainCommand, AFinishedRunIsNotOverwritten) {
  must_train("run");
  const auto before = read_text(folder / "run" / "prior.safetensors");
  expect_refused(train("run"), {"already holds a run", "--resume"});
  const auto result = train("run", {"--resume"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "this training is complete")) << result.out;
  EXPECT_EQ(read_text(folder / "run" / "prior.safetensors"), before);
}

TEST_F(TrainCommand, ResumeRefusesWhatHasChanged) {
  const auto pid = start(words("run", long_run));
  wait_for_checkpoint("run");
  kill(pid, SIGTERM);
  ASSERT_EQ(wait_for(pid), 130);
  auto other = resumed(long_run);
  other.insert(other.end(), {"--set", "training.learning_rate=1e-3"});
  expect_refused(train("run", other),
                 {"config.yaml: is a run of another configuration", "learning_rate: 0.002", "learning_rate: 0.001"});
  expect_refused(train("run", long_run), {"already holds a run"});
  io::write_png(folder / "pictures" / "07.png", at::full({1, 8, 8}, 9, at::kByte));
  expect_refused(train("run", resumed(long_run)), {"provenance.json: images: the run was begun with"});
  write_pictures(folder / "pictures");
  must_train("run", resumed(long_run));
}

TEST_F(TrainCommand, BadInputIsNamed) {
  const auto refused = [&](const std::string& assignment, const Words& parts) {
    expect_refused(train("bad", {"--set", assignment}), parts);
    EXPECT_FALSE(fs::exists(folder / "bad" / "config.yaml"));
  };
  const auto file = config.string();
  refused("training.stepps=5", {"training.stepps: unknown key", "steps"});
  refused("network.channel_mult=[1, 1, 1, 1, 1]", {file, "network.channel_mult", "multiples of 16", "1x8x8"});
  refused("network.model_channels=20", {"network.kind", "expected a multiple of 32", "1 x 20 = 20 channels"});
  refused("network.num_head_channels=64", {"network.kind", "divisor of the 32 channels"});
  refused("data.validation_share=0", {"data.validation_share"});
  refused("training.batch=0", {"training.batch: expected"});
  refused("training.accumulate=7", {file, "training.batch: expected at least one image for each of 7", "found 6"});
  refused("sigma.high=1e10", {"sigma.high: expected a number in"});
  refused("data.range=[0, 1e7]", {"data.range: expected [low, high] within"});
  refused("parameterisation.sigma_data=1e6", {"parameterisation.sigma_data: expected"});
  refused("sigma.high=0.001", {"sigma.high: expected more than low"});
  refused("data.folder=nowhere", {"data.folder", "nowhere"});
  fs::create_directories(folder / "empty");
  refused("data.folder=empty", {"empty: expected a folder of images", "found none"});
  write_text(folder / "pictures" / "broken.png", "no picture");
  refused("seed=1", {"broken.png"});
  fs::remove(folder / "pictures" / "broken.png");
  auto text = read_text(config);
  text.replace(text.find("steps: 12, "), 11, "");
  write_text(config, text);
  expect_refused(train("bad"), {file, "training.steps: missing"});
}

TEST_F(TrainCommand, AFolderThatCannotBeUsedIsNamed) {
  write_text(folder / "file", "in the way");
  expect_refused(train("file/run"), {"file/run", "cannot be made"});
  const io::FolderLock lock(folder);
  expect_refused(penumbra({"train", config.string(), "--out", folder.string(), "--device", "cpu"}),
                 {"another process is working in this folder"});
}

TEST_F(TrainCommand, ADivergenceEndsWithExit3) {
  const Words hot{"--set", "training.learning_rate=1e30", "--set", "training.sample_every=0"};
  const auto result = train("run", hot);
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(contains(result.err, "diverged")) << result.err;
  EXPECT_EQ(summary("run")["outcome"].get<std::string>(), "diverged");
  EXPECT_TRUE(contains(read_text(folder / "run" / "report.html"), "diverged"));
  const auto info = penumbra({"info", (folder / "run").string(), "--json"});
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_FALSE(json::parse(info.out)["complete"].get<bool>());
  EXPECT_FALSE(contains(train("run", resumed(hot)).out, "complete"));
}

/// The loss is a number at the first step alone; no row of the history is due before the end.
TEST_F(TrainCommand, NothingIsSavedWhileTheLossIsNoNumber) {
  const auto result = train("run", {"--set", "training.learning_rate=1e30", "--set", "training.sample_every=0", "--set",
                                    "training.log_every=1000", "--set", "training.checkpoint_every_s=1e-9"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_EQ(newest("run"), 1);
  const auto header = io::read_weights(folder / "run" / "prior.safetensors").header;
  EXPECT_EQ(header["record"]["training"]["steps"].get<int>(), 1);
}

struct TrainTeam : TrainCommand {
  void SetUp() override {
    if (!can_connect(at::kCPU)) GTEST_SKIP() << "this LibTorch's Gloo cannot be used";
  }
};

/// To rounding: sums of float32 in another order. With Adam's usual epsilon a step is near the sign of the gradient,
/// which rounding can flip where it is about zero; with a large one it is proportional to the gradient.
TEST_F(TrainTeam, TwoProcessesTrainAsOne) {
  const Words smooth{"--set", "training.epsilon=1e-2", "--set", "training.batch=7"};
  must_train("one", smooth);
  const auto results = penumbra_team(2, words("two", smooth));
  for (const auto& result : results) ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(results[0].out.empty());
  EXPECT_EQ(results[1].out + results[1].err, "");
  const auto found = weights("two"), expected = weights("one");
  ASSERT_EQ(found.size(), expected.size());
  double difference = 0, movement = 0;
  must_train("start", {"--set", "training.epsilon=1e-2", "--set", "training.batch=7", "--set", "training.steps=1",
                       "--set", "training.learning_rate=1e-30"});
  const auto start = weights("start");
  for (const auto& [name, tensor] : expected) {
    difference = std::max(difference, (found.at(name) - tensor).abs().max().item<double>());
    movement = std::max(movement, (tensor - start.at(name)).abs().max().item<double>());
  }
  EXPECT_GT(movement, 1e-3);
  EXPECT_LT(difference, 1e-4 * movement);  // measured: 6e-6
  for (const auto* name : {"config.yaml", "provenance.json"})
    EXPECT_EQ(read_text(folder / "two" / name), read_text(folder / "one" / name));
}

TEST_F(TrainTeam, AnInterruptOfOneStopsAllAndResumesBitForBit) {
  for (const auto& result : penumbra_team(2, words("reference", long_run))) ASSERT_EQ(result.code, 0) << result.err;
  const auto members = start_team(2, words("run", long_run));
  wait_for_checkpoint("run");
  kill(members[1], SIGINT);
  for (const auto member : members) ASSERT_EQ(wait_for(member), 130);
  for (const auto& result : penumbra_team(2, words("run", resumed(long_run)))) ASSERT_EQ(result.code, 0) << result.err;
  expect_same_weights(weights("run"), weights("reference"));
}

TEST_F(TrainTeam, FoldersThatAreNotSharedAreRefused) {
  const auto pid = start(words("run", long_run));
  wait_for_checkpoint("run");
  kill(pid, SIGTERM);
  ASSERT_EQ(wait_for(pid), 130);
  const auto before = newest("run");
  for (const auto& result : penumbra_team({words("run", resumed(long_run)), words("own", resumed(long_run))}))
    expect_refused(result, {"the processes find different checkpoints"});
  EXPECT_EQ(newest("run"), before);
}

TEST_F(TrainTeam, AnotherConfigurationInOneEndsAll) {
  for (const auto& result : penumbra_team({words("run"), words("run", {"--set", "training.learning_rate=1e-3"})}))
    expect_refused(result, {"train.yaml: the processes read different configurations"});
  EXPECT_FALSE(fs::exists(folder / "run"));
}

/// None waits in vain for another that has ended: that would end with the words of a timeout.
TEST_F(TrainTeam, AnErrorOfTheFirstEndsAll) {
  write_text(folder / "file", "in the way");
  auto results = penumbra_team(2, words("file/run"));
  expect_refused(results[0], {"cannot be made"});
  expect_refused(results[1], {"process 0 ended this run"});
  must_train("run");
  results = penumbra_team(2, words("run"));
  expect_refused(results[0], {"already holds a run"});
  expect_refused(results[1], {"process 0 ended this run"});
  for (const auto& result : penumbra_team(2, words("few", {"--set", "training.batch=1"})))
    expect_refused(result, {"training.batch: expected at least one image for each of 2", "found 1"});
  for (const auto& result : penumbra_team(2, words("run", {"--resume"}))) EXPECT_EQ(result.code, 0) << result.err;
}

}  // namespace
}  // namespace penumbra::test
