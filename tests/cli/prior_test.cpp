/// Learned priors on the command line: checkpoints of the official code with its own configuration files.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/npy.h"
#include "io/weights.h"
#include "networks/header.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"
#include "support/random_weights.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A small network without a header, as the official code saves it, and an image.
struct PriorOnTheCommandLine : testing::Test {
  fs::path folder = scratch();
  json options{{"image_size", 8},
               {"in_channels", 1},
               {"out_channels", 1},
               {"model_channels", 32},
               {"num_res_blocks", 1},
               {"attention_resolutions", {2}},
               {"network_mode", "sigma"},
               {"use_embed", true},
               {"channel_mult", {1, 1}},
               {"num_heads", 2},
               {"num_classes", nullptr},
               {"use_fp16", false},
               {"use_scale_shift_norm", true}};
  const Architecture architecture{options, "test"};
  std::map<std::string, Tensor> weights = random_weights(architecture);
  Tensor x = normal({3, 0, 0}, Stream::probe, at::empty({2, 1, 8, 8}, at::TensorOptions().dtype(at::kFloat)));
  const double sigma = 0.3;

  void SetUp() override {
    io::write_safetensors(folder / "bare.safetensors", weights, nullptr);
    io::write_npy(folder / "x.npy", x);
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  Result score(const std::string& arch) const {
    return penumbra({"score", "--prior", path("bare.safetensors"), "--arch", path(arch), "--input", path("x.npy"),
                     "--sigma", std::to_string(sigma), "--output", path("s.npy")});
  }

  void expect_the_score(const std::string& arch) const {
    fs::remove(path("s.npy"));
    const auto result = score(arch);
    ASSERT_EQ(result.code, 0) << result.err;
    c10::NoGradGuard no_gradients;
    const auto exact = (*network_of(architecture, weights))({x, at::full({2}, sigma, x.options()), {}, false}) / sigma;
    EXPECT_LT(relative_error(io::read_npy(path("s.npy")), exact), 1e-5) << arch;
  }

  void expect_refused(const std::string& arch, const std::vector<std::string>& words) const {
    const auto result = score(arch);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const auto& word : words) EXPECT_TRUE(contains(result.err, word)) << word << " in: " << result.err;
  }
};

TEST_F(PriorOnTheCommandLine, ArchitectureAsTheOfficialConfigurations) {
  write_text(folder / "base.yaml", R"(# base configuration
model:
  name: TBD
  forward_model: {name: Radial, var: 5.0e-5}
  score_fn:
    name: UNetModel
    image_size: 8
    in_channels: 1
    model_channels: 32
    out_channels: 1
    num_res_blocks: 1
    attention_resolutions: [2]   # factors
    network_mode: TBD
    use_embed: TBD
    channel_mult: (1, 1)
    dims: 2
    num_classes: null
    use_fp16: False
    num_heads: 2
    use_scale_shift_norm: True
)");
  write_text(folder / "run.yaml", R"(_BASE_: ./base.yaml
model:
  name: PMCPnP
  score_fn: {network_mode: sigma, use_embed: True}
  gamma: 5.0e-6
)");
  expect_the_score("run.yaml");
  expect_refused("base.yaml", {"base.yaml: architecture.network_mode: expected sigma or timestep", "TBD"});
}

TEST_F(PriorOnTheCommandLine, AFolderATextOrAnUnknownName) {
  const auto refused = [&](const std::string& prior, const std::string& word) {
    const auto result =
        penumbra({"score", "--prior", prior, "--input", path("x.npy"), "--sigma", "1", "--output", path("s.npy")});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, word)) << result.err;
  };
  refused(folder.string(), "expected an existing file");
  refused(path("x.npy"), "safetensors or as torch.save");
  refused(path("bare.safetensors"), "--arch");
  refused("no-such-prior", "no prior of this name");
}

/// `compute: auto` may mean another type on another machine: the run says which it was, and goes on with no other.
TEST_F(PriorOnTheCommandLine, TheTypeInWhichItComputesIsWrittenDown) {
  write_text(folder / "arch.json", options.dump());
  const std::string prior =
      "{kind: network, file: bare.safetensors, arch: arch.json, compute: bfloat16, clip_score: 1e9}";
  write_text(folder / "prior.yaml", prior);
  const auto drawn =
      penumbra({"generate", "--prior", path("prior.yaml"), "--count", "1", "--steps", "2", "--out", path("drawn")});
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  const auto about = json::parse(read_text(folder / "drawn" / "samples.json"));
  EXPECT_EQ(about["prior"]["compute"].get<std::string>(), "bfloat16");

  write_text(folder / "config.yaml", "prior: " + prior +
                                         "\nlikelihood: {kind: none}\nchains: 2\n"
                                         "sampler: {kind: pmc-red, sigma: 0.3, step_size: 1e-4, steps: 20}\n");
  const std::vector<std::string> sample{"sample", path("config.yaml"), "--out", path("run"), "--device",
                                        "cpu",    "--resume"};
  const auto begun = penumbra(sample);
  ASSERT_EQ(begun.code, 0) << begun.err;
  const auto summary = json::parse(read_text(folder / "run" / "summary.json"));
  EXPECT_EQ(summary["problem"]["network_compute"].get<std::string>(), "bfloat16");
  auto provenance = json::parse(read_text(folder / "run" / "provenance.json"));
  EXPECT_EQ(penumbra(sample).code, 0);
  provenance["network_compute"] = "float32";
  write_text(folder / "run" / "provenance.json", provenance.dump());
  const auto elsewhere = penumbra(sample);
  EXPECT_EQ(elsewhere.code, 2);
  EXPECT_TRUE(contains(elsewhere.err, "the run was begun with network_compute float32, this is bfloat16"))
      << elsewhere.err;
}

TEST_F(PriorOnTheCommandLine, ComputeOverridesTheFileAndIsRefusedWhereThereIsNoNetwork) {
  write_text(folder / "arch.json", options.dump());
  write_text(folder / "prior.yaml", "{kind: network, file: bare.safetensors, arch: arch.json, compute: bfloat16}");
  write_text(folder / "field.yaml", "{kind: random_field, side: 8, modes: 2}");
  const auto score_of = [&](const std::string& prior, std::vector<std::string> more) {
    std::vector<std::string> args{"score",   "--prior", path(prior), "--input",    path("x.npy"),
                                  "--sigma", "0.3",     "--output",  path("s.npy")};
    args.insert(args.end(), more.begin(), more.end());
    return penumbra(args);
  };
  c10::NoGradGuard no_gradients;
  const auto exact = (*network_of(architecture, weights))({x, at::full({2}, sigma, x.options()), {}, false}) / sigma;
  ASSERT_EQ(score_of("prior.yaml", {}).code, 0);
  EXPECT_GT(relative_error(io::read_npy(path("s.npy")), exact), 1e-4);  // bfloat16 keeps 8 bits
  ASSERT_EQ(score_of("prior.yaml", {"--compute", "float32"}).code, 0);
  EXPECT_LT(relative_error(io::read_npy(path("s.npy")), exact), 1e-5);
  ASSERT_EQ(score_of("field.yaml", {}).code, 0);
  const auto refused = score_of("field.yaml", {"--compute", "float32"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--compute") && contains(refused.err, "random_field")) << refused.err;
}

TEST_F(PriorOnTheCommandLine, InfoSaysWhatItIsForPeople) {
  const json header{{"format", 1},
                    {"name", "tiny\x1b[31m"},
                    {"architecture", architecture.to_json()},
                    {"parameterisation", {{"kind", "karras"}, {"sigma_data", 0.5}}},
                    {"sigma_range", {0.005, 400}},
                    {"pixel_range", {-1, 1}},
                    {"image_shape", {1, 8, 8}},
                    {"record",
                     {{"data", "drawn by hand"},
                      {"licence", "CC0"},
                      {"training",
                       {{"steps", 300},
                        {"validation",
                         {{{"sigma", {0.005, 0.02}}, {"loss", 0.25}, {"loss_at_start", 1.5}, {"psnr", 40.125}},
                          {{"sigma", "all"}, {"loss", "low"}},
                          7}}}}}}};
  const auto file = path("prior.safetensors");
  io::write_safetensors(file, weights, header);
  EXPECT_TRUE(contains(penumbra({"info", "face-64"}).out, "face-64"));  // one that ships
  const auto result = penumbra({"info", file});
  ASSERT_EQ(result.code, 0) << result.err;
  int64_t parameters = 0;
  for (const auto& [name, tensor] : weights) parameters += tensor.numel();
  for (const auto& word :
       {std::string("prior: a network and its weights"), std::string("tiny\\x1b[31m"), std::string("1x8x8"),
        std::string("pixels -1 to 1"), std::string("0.005 to 400"), std::to_string(parameters),
        std::string("drawn by hand"), std::string("CC0"), std::string("steps 300"), std::string("0.005 to 0.02"),
        std::string("0.25"), std::string("40.1")})
    EXPECT_TRUE(contains(result.out, word)) << word << " in:\n" << result.out;
  const auto info = json::parse(penumbra({"info", file, "--json"}).out);
  EXPECT_EQ(info["image_shape"], json({1, 8, 8}));
  EXPECT_EQ(info["sigma_range"], json({0.005, 400.0}));
  EXPECT_EQ(info["parameters"].get<int64_t>(), parameters);

  auto wrong = header;
  wrong["sigma_range"] = {5, 1};
  io::write_safetensors(file, weights, wrong);
  EXPECT_TRUE(contains(penumbra({"info", file}).out, "header.sigma_range: expected [low, high]"));
}

}  // namespace
}  // namespace penumbra::test
