/// The U-Net's options, names and parts, against independent formulas.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/random.h"
#include "networks/fused_norm.h"
#include "networks/unet.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/random_weights.h"

namespace penumbra {
namespace {

using nlohmann::json;

json small() {
  return {{"kind", "unet"},          {"model_channels", 32},         {"channel_mult", {1, 2}},
          {"num_res_blocks", 1},     {"attention_resolutions", {2}}, {"num_head_channels", 32},
          {"resblock_updown", true}, {"use_scale_shift_norm", true}};
}

std::shared_ptr<const Network> random_network(const json& options, uint64_t seed = 1) {
  const Architecture architecture(options, "test");
  return test::network_of(architecture, test::random_weights(architecture, seed));
}

Tensor image(int64_t count, int64_t side, int64_t k = 0) {
  return test::numbers(4, {count, 1, side, side}, k, at::kFloat);
}

Tensor run(const Network& network, const Tensor& x, double condition) {
  c10::NoGradGuard no_gradients;
  return network({x, at::full({x.size(0)}, condition, x.options()), {}, false});
}

TEST(UNet, PaperSizeHasTheOfficialNumberOfParameters) {
  const Architecture paper({{"model_channels", 128},
                            {"channel_mult", {1, 1, 2, 2, 4, 4}},
                            {"num_res_blocks", 1},
                            {"attention_resolutions", {16, 8}},
                            {"num_head_channels", 64},
                            {"resblock_updown", true},
                            {"use_scale_shift_norm", true}},
                           "test");
  EXPECT_EQ(parameter_count(paper.parameters()) / 100000, 944);
  EXPECT_EQ(paper.size_factor(), 32);
}

TEST(UNet, GoldenFilesListOurParameters) {
  for (const auto* name : {"golden/unet_a.json", "golden/unet_b.json"}) {
    const auto path = test::shared(name);
    if (!path) GTEST_SKIP() << "no ../shared/golden here";
    std::ifstream in(*path);
    const auto golden = json::parse(in);
    std::map<std::string, Shape> ours;
    for (const auto& spec : Architecture(golden["config"], name).parameters()) ours[spec.name] = spec.shape;
    std::map<std::string, Shape> theirs;
    for (const auto& [key, shape] : golden["params"].items()) theirs[key] = shape.get<Shape>();
    EXPECT_EQ(ours, theirs);
  }
}

TEST(UNet, ImagesOfABatchDoNotSeeEachOther) {
  const auto network = random_network(small());
  const auto x = image(3, 16);
  const auto together = run(*network, x, 0.3);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LT(test::relative_error(run(*network, x.narrow(0, i, 1), 0.3)[0], together[i]), 1e-4);
}

TEST(UNet, EveryOptionChangesTheFunctionOrTheParameters) {
  const auto x = image(2, 16);
  const auto base = run(*random_network(small()), x, 0.3);
  for (const auto& [key, value] : std::map<std::string, json>{{"use_scale_shift_norm", false},
                                                              {"resblock_updown", false},
                                                              {"use_new_attention_order", true},
                                                              {"num_head_channels", 16},
                                                              {"network_mode", "timestep"},
                                                              {"use_embed", false},
                                                              {"attention_resolutions", {1, 2}},
                                                              {"num_res_blocks", 2},
                                                              {"channel_mult", {1, 1, 2}}}) {
    auto options = small();
    options[key] = value;
    const auto out = run(*random_network(options), x, 0.3);
    EXPECT_EQ(out.sizes(), x.sizes()) << key;
    EXPECT_GT(test::relative_error(out, base), 1e-3) << key;
  }
}

TEST(UNet, WithoutEmbeddingTheConditionIsIgnored) {
  auto options = small();
  options["use_embed"] = false;
  const auto network = random_network(options);
  EXPECT_TRUE(run(*network, image(1, 16), 0.1).equal(run(*network, image(1, 16), 5)));
}

TEST(UNet, ClassesHaveTheirOwnScores) {
  auto options = small();
  options["num_classes"] = 4;
  const auto network = random_network(options);
  EXPECT_EQ(network->classes(), 4);
  c10::NoGradGuard no_gradients;
  const auto x = image(1, 16).expand({2, 1, 16, 16});
  const auto out = (*network)({x, at::full({2}, 0.3), at::tensor({0, 3}, at::TensorOptions().dtype(at::kLong)), false});
  EXPECT_GT(test::relative_error(out[0], out[1]), 1e-3);
}

TEST(UNet, WrongOptionsAreNamed) {
  for (const auto& [change, message] : std::map<std::string, std::string>{
           {R"({"model_chanels": 3})", "model_chanels"},
           {R"({"model_channels": 33})", "multiple of 32"},
           {R"({"model_channels": "many"})", "architecture.model_channels: expected a whole number"},
           {R"({"channel_mult": []})", "channel_mult"},
           {R"({"channel_mult": [1, 1e300]})", "channel_mult"},
           {R"({"channel_mult": [1, 2.5]})", "multiple of 32"},
           {R"({"num_head_channels": 0})", "num_head_channels"},
           {R"({"num_head_channels": 48})", "num_head_channels: expected a divisor of the 64 channels"},
           {R"({"num_head_channels": 128})", "num_head_channels: expected a divisor of the 64 channels"},
           {R"({"num_head_channels": -1, "num_heads": 3})", "num_heads: expected a divisor"},
           {R"({"num_head_channels": -1, "num_heads_upsample": 5})", "num_heads_upsample: expected a divisor"},
           {R"({"num_heads_upsample": 0})", "num_heads_upsample"},
           {R"({"num_heads_upsample": 18446744073709551615})", "num_heads_upsample"},
           {R"({"dims": 3})", "dims"},
           {R"({"out_channels": 2})", "out_channels"},
           {R"({"network_mode": "time"})", "network_mode"},
           {R"({"kind": "transformer"})", "kind"}}) {
    auto options = small();
    options.update(json::parse(change));
    const auto said = test::message_of([&] { Architecture(options, "net.json").parameters(); });
    EXPECT_TRUE(test::contains(said, message)) << change << ": " << said;
  }
}

TEST(UNet, OptionsSurviveJson) {
  const Architecture first(small(), "test");
  EXPECT_EQ(Architecture(first.to_json(), "test").to_json(), first.to_json());
}

TEST(Normalization, IsTheFormula) {
  const auto x = image(2, 8).expand({2, 64, 8, 8}) * at::arange(1, 65).reshape({1, 64, 1, 1}) / 10 + 0.3;
  const auto weight = at::arange(64) / 40.0 + 0.2, bias = at::arange(64) / 100.0 - 0.3;
  const auto film = at::arange(256).reshape({2, 128}) / 200.0 - 0.4;
  const auto groups = x.reshape({2, 32, 2, 8, 8});
  const auto mean = groups.mean({2, 3, 4}, true), var = groups.var({2, 3, 4}, false, true);
  auto z = ((groups - mean) / (var + 1e-5).sqrt()).reshape({2, 64, 8, 8});
  z = z * weight.reshape({1, 64, 1, 1}) + bias.reshape({1, 64, 1, 1});
  z = z * (1 + film.narrow(1, 0, 64).reshape({2, 64, 1, 1})) + film.narrow(1, 64, 64).reshape({2, 64, 1, 1});
  EXPECT_LT(test::relative_error(normalise(Features{x}, {weight, bias, film, 32, true}), z * z.sigmoid()), 1e-5);
  EXPECT_LT(test::relative_error(normalise(Features{x}, {weight, bias, film, 32, false}), z), 1e-5);
  const auto last = x.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_LT(test::relative_error(normalise(Features{last}, {weight, bias, film, 32, true}), z * z.sigmoid()), 1e-5);
}

}  // namespace
}  // namespace penumbra
