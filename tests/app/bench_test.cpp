/// What a network costs, counted; and the benchmarks of networks on the command line.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "app/bench/measure.h"
#include "app/bench/subject.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

using nlohmann::json;

/// Without its numbers, which the count does not need.
double operations(const json& architecture, int64_t height, int64_t width) {
  const auto network = Architecture(architecture, "test").make([](const ParameterSpec& spec) {
    return at::empty(spec.shape, at::TensorOptions().dtype(at::kFloat).device(at::kMeta));
  });
  return *network->operations(height, width);
}

/// ../shared/golden/README.md: 94.4 million parameters, 391.7 GFLOP an image.
TEST(BenchNetwork, CountsThePapersNetwork) {
  const auto header = app::bench_header("paper-256");
  EXPECT_NEAR(1e-6 * static_cast<double>(parameter_count(Architecture(header.architecture, "test").parameters())), 94.4,
              0.05);
  EXPECT_NEAR(1e-9 * operations(header.architecture, 256, 256), 391.7, 0.05);
}

/// By hand: 3x3 convolutions of 2 x 9 x in x out operations a pixel.
TEST(BenchNetwork, CountsAChainOfConvolutions) {
  const json dncnn{{"kind", "dncnn"}, {"in_channels", 1}, {"model_channels", 8}, {"depth", 3}};
  EXPECT_EQ(operations(dncnn, 6, 5), 2 * 9 * (8 + 64 + 8) * 30);
}

/// By hand, for steps that are plain and those that are residual blocks.
TEST(BenchNetwork, CountsASmallUNet) {
  json unet{{"in_channels", 1},       {"out_channels", 1},        {"model_channels", 32},
            {"num_res_blocks", 1},    {"use_embed", false},       {"num_heads", 1},
            {"channel_mult", {1, 1}}, {"resblock_updown", false}, {"conv_resample", false}};
  const double c = 32, full = 64, half = 16, square = 9 * c * c;
  const double ends = 9 * c * (full + full), attention = half * 4 * c * c + 2 * half * half * c;
  // Down: one block each; in the middle two blocks; up: two blocks each, from twice the channels, with a skip of 1x1.
  const double down = 2 * square * (full + half), middle = 4 * square * half + attention;
  const double up = 2 * (3 * square + 2 * c * c) * (half + full);
  EXPECT_EQ(operations(unet, 8, 8), 2 * (ends + down + middle + up));
  unet["resblock_updown"] = true;
  EXPECT_EQ(operations(unet, 8, 8), 2 * (ends + down + middle + up + 2 * square * (half + full)));
}

TEST(BenchMeasure, TakesTheMedianOfGroups) {
  int64_t calls = 0;
  const auto timing = app::measure(at::kCPU, 0.001, [&] { ++calls; });
  EXPECT_GT(calls, 5);
  EXPECT_LE(timing.low, timing.median);
  EXPECT_LE(timing.median, timing.high);
}

struct BenchOnTheCommandLine : testing::Test {
  std::filesystem::path arch = scratch() / "small.json";
  void SetUp() override {
    write_text(arch, json{{"image_size", 8},
                          {"model_channels", 32},
                          {"num_res_blocks", 1},
                          {"channel_mult", {1, 1}},
                          {"num_head_channels", 32},
                          {"resblock_updown", true},
                          {"use_scale_shift_norm", true}}
                         .dump());
  }
  json table(const std::string& what) {
    const auto result = penumbra({"bench", what, "--arch", arch.string(), "--batch", "2", "--seconds", "0.01",
                                  "--device", "cpu", "--compute", "float32", "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return json::parse(result.out, nullptr, false);
  }
};

TEST_F(BenchOnTheCommandLine, TellsTimeRateAndMemory) {
  for (const std::string what : {"network", "train"}) {
    const auto found = table(what);
    ASSERT_EQ(found["rows"].size(), 1) << found.dump();
    for (const auto* key : {"milliseconds", "low", "high", "tflops", "share_of_peak"})
      EXPECT_GT(found["rows"][0][key].get<double>(), 0) << what << ' ' << key;
    for (const auto* key : {"gflop_per_image", "peak_tflops", "memory_bytes", "parameters"})
      EXPECT_GT(found[key].get<double>(), 0) << what << ' ' << key;
    EXPECT_EQ(found["compute"], "float32");
    EXPECT_EQ(found["batch"], 2);
  }
}

TEST_F(BenchOnTheCommandLine, ComparesIterationsWithTheNetwork) {
  const auto rows = table("iteration")["rows"];
  ASSERT_EQ(rows.size(), 4) << rows.dump();
  EXPECT_EQ(rows[0]["name"], "network");
  EXPECT_EQ(rows[0]["ratio"], 1);
  for (const auto& row : rows) EXPECT_GT(row["ratio"].get<double>(), 0) << row.dump();
}

TEST_F(BenchOnTheCommandLine, SaysWhatIsMissing) {
  const auto none = penumbra({"bench", "network"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("paper-256"), std::string::npos) << none.err;
  EXPECT_EQ(penumbra({"bench", "nonsense"}).code, 2);
  EXPECT_EQ(penumbra({"bench", "--arch", "paper-256"}).code, 2);
}

}  // namespace
}  // namespace penumbra::test
