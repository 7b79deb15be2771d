/// Headers and architectures from strangers: whatever the JSON, a network or an InputError.
#include "networks/header.h"

#include <gtest/gtest.h>

#include <random>

#include "support/message.h"

namespace penumbra {
namespace {

using nlohmann::json;

json good() {
  return {{"format", 1},
          {"name", "tiny"},
          {"architecture",
           {{"kind", "unet"},
            {"in_channels", 1},
            {"out_channels", 1},
            {"model_channels", 32},
            {"num_res_blocks", 1},
            {"channel_mult", {1, 2}},
            {"attention_resolutions", {2}},
            {"network_mode", "sigma"},
            {"use_embed", true},
            {"fourier_scale", 1.0},
            {"dropout", 0.1},
            {"conv_resample", true},
            {"dims", 2},
            {"num_classes", nullptr},
            {"num_heads", 2},
            {"num_heads_upsample", -1},
            {"num_head_channels", 32},
            {"use_scale_shift_norm", true},
            {"resblock_updown", true},
            {"use_new_attention_order", false},
            {"image_size", 64}}},
          {"parameterisation", {{"kind", "karras"}, {"sigma_data", 0.5}}},
          {"sigma_range", {0.005, 400}},
          {"pixel_range", {-1, 1}},
          {"image_shape", {1, 64, 64}},
          {"pixel_sd", {{"shape", {1, 2, 2}}, {"sd", {0.1, 0, 0.25, 3}}, {"from", "7 training images"}}},
          {"record", {{"data", "none"}, {"training", {{"steps", 3}}}}}};
}

json nested(int depth) {
  json value = 1;
  for (int i = 0; i < depth; ++i) value = i % 2 == 0 ? json::array({value}) : json{{"a", value}};
  return value;
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  json operator()(json value) {
    for (int changes = 1 + below(3); changes > 0; --changes) change(value);
    return value;
  }

  /// The text, of more than 32 bytes, with some replaced, dropped or doubled.
  std::string operator()(std::string text) {
    for (int changes = 1 + below(4); changes > 0; --changes) {
      const auto at = text.begin() + below(static_cast<int>(text.size()));
      const auto end = std::min(text.end(), at + 1 + below(8));
      const std::string piece(at, end);
      switch (below(3)) {
        case 0:
          *at = "0123456789-+.eE{}[]\",:x\x01\xff"[below(25)];
          break;
        case 1:
          text.erase(at, end);
          break;
        default:
          text.insert(at, piece.begin(), piece.end());
      }
    }
    return text;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  json hostile() {
    static const std::vector<json> values{nullptr,
                                          true,
                                          false,
                                          "",
                                          "unet",
                                          "dncnn",
                                          "varnet",
                                          "reconstruction",
                                          "karras",
                                          "noise",
                                          "timestep",
                                          "1,2,4",
                                          "(1, 2)",
                                          "[[[[",
                                          "(",
                                          ",",
                                          std::string(5000, 'x'),
                                          std::string("\0\x1b[31m", 6),
                                          0,
                                          -1,
                                          1,
                                          2,
                                          3,
                                          31,
                                          32,
                                          64,
                                          4096,
                                          65536,
                                          65537,
                                          2147483648,
                                          INT64_MAX,
                                          INT64_MIN,
                                          UINT64_MAX,
                                          0.5,
                                          -0.0,
                                          1e-320,
                                          1e18,
                                          1e308,
                                          -1e308,
                                          json::array(),
                                          json::object(),
                                          json::array({1, 2, 3, 4}),
                                          json::array({1e308, -1e308}),
                                          json::array({0, 0}),
                                          json::array_t(300, 1),
                                          json{{"kind", "dncnn"}},
                                          json{{"kind", json::array()}},
                                          nested(60)};
    return values[static_cast<size_t>(below(static_cast<int>(values.size())))];
  }

  void change(json& value) {
    const bool descend = (value.is_object() || value.is_array()) && !value.empty() && below(5) > 0;
    if (!descend) {
      value = hostile();
      return;
    }
    const auto at = below(static_cast<int>(value.size()));
    auto member = value.begin();
    std::advance(member, at);
    const auto kind = below(8);
    if (kind == 0)
      value.erase(member);
    else if (kind == 1 && value.is_object())
      value[hostile().dump().substr(0, 40)] = hostile();
    else if (kind == 1)
      value.push_back(hostile());
    else
      change(*member);
  }

  std::mt19937 random_;
};

/// Whether the header made a network's list of parameters; anything but that or an InputError fails the test.
bool accepts(const json& header) {
  try {
    const auto parsed = NetworkHeader::from_json(header, "x.safetensors");
    const Architecture architecture(parsed.architecture, "x.safetensors");
    EXPECT_GT(parameter_count(architecture.parameters()), 0);
    EXPECT_GE(architecture.size_factor(), 1);
    // What is accepted can be written and read back.
    const auto again = NetworkHeader::from_json(parsed.to_json(), "again");
    EXPECT_EQ(Architecture(again.architecture, "again").to_json(), architecture.to_json());
    return true;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_LT(message.size(), 600U) << message;
    EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos) << message;
    return false;
  }
}

TEST(Header, TheUnchangedOneIsAccepted) { EXPECT_TRUE(accepts(good())); }

TEST(Header, TheSpreadOfThePixelsIsOptionalAndChecked) {
  const auto header = NetworkHeader::from_json(good(), "x");
  ASSERT_TRUE(header.pixel_sd);
  EXPECT_EQ(header.pixel_sd->shape, (Shape{1, 2, 2}));
  EXPECT_EQ(header.pixel_sd->sd, (std::vector<double>{0.1, 0, 0.25, 3}));
  EXPECT_EQ(header.to_json()["pixel_sd"], good()["pixel_sd"]);
  auto without = good();
  without.erase("pixel_sd");
  EXPECT_FALSE(NetworkHeader::from_json(without, "x").pixel_sd);
  EXPECT_FALSE(NetworkHeader::from_json(without, "x").to_json().contains("pixel_sd"));
  const auto message = [](const std::string& key, const json& value) {
    auto header = good();
    header["pixel_sd"][key] = value;
    return test::message_of([&] { NetworkHeader::from_json(header, "x"); });
  };
  EXPECT_TRUE(test::contains(message("shape", {1, 65, 2}), "x: header.pixel_sd.shape: expected [1, rows, columns]"));
  EXPECT_TRUE(test::contains(message("shape", {2, 2, 1}), "pixel_sd.shape"));
  EXPECT_TRUE(test::contains(message("sd", {1, 2, 3}), "header.pixel_sd.sd: expected 4 numbers"));
  EXPECT_TRUE(test::contains(message("sd", {1, 2, 3, -1}), "pixel_sd.sd"));
  EXPECT_TRUE(test::contains(message("from", 3), "header.pixel_sd.from: expected text, found 3"));
  const auto message_beside = [](const json& spread) {
    auto header = good();
    header["pixel_sd"] = spread;
    return test::message_of([&] { NetworkHeader::from_json(header, "x", "y.sd.json"); });
  };
  EXPECT_EQ(message_beside({}), "y.sd.json: expected an object with shape, sd and from, found null");
  auto spread = good()["pixel_sd"];
  EXPECT_EQ(message_beside(spread), "");
  spread["from"] = 3;
  EXPECT_EQ(message_beside(spread), "y.sd.json: from: expected text, found 3");
}

json reconstruction() {
  auto header = good();
  header["architecture"] = {{"kind", "varnet"}, {"in_channels", 1}, {"cascades", 2}, {"model_channels", 4}};
  header["parameterisation"] = {{"kind", "reconstruction"}};
  header.erase("sigma_range");
  return header;
}

TEST(Header, AReconstructionNetworkHasNoNoiseLevels) {
  EXPECT_TRUE(accepts(reconstruction()));
  EXPECT_FALSE(NetworkHeader::from_json(reconstruction(), "x").to_json().contains("sigma_range"));
  auto denoiser = good();
  denoiser.erase("sigma_range");
  EXPECT_FALSE(accepts(denoiser));
}

TEST(Header, OnlyAVarNetReconstructs) {
  const auto message = [](const json& header) {
    return test::message_of([&] { NetworkHeader::from_json(header, "x"); });
  };
  auto header = good();
  header["parameterisation"] = {{"kind", "reconstruction"}};
  EXPECT_TRUE(test::contains(message(header), "x: header.parameterisation: expected another kind"));
  header = good();
  header["architecture"] = reconstruction()["architecture"];
  EXPECT_TRUE(test::contains(message(header), "expected reconstruction for a varnet"));
}

TEST(Header, ChangedValuesAreAcceptedOrRefused) {
  int accepted = 0;
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE(seed);
    accepted += accepts(Mutator(seed)(seed % 4 == 0 ? reconstruction() : good()));
    if (testing::Test::HasFailure()) return;
  }
  // Both happen: the mutations are neither all fatal nor all harmless.
  EXPECT_GT(accepted, 500);
  EXPECT_LT(accepted, 19000);
}

TEST(Header, ChangedTextsAreAcceptedOrRefused) {
  const auto text = good().dump();
  int parsed = 0;
  for (uint32_t seed = 0; seed < 10000; ++seed) {
    SCOPED_TRACE(seed);
    const auto header = json::parse(Mutator(seed)(text), nullptr, false);
    if (header.is_discarded()) continue;
    ++parsed;
    accepts(header);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(parsed, 500);
}

}  // namespace
}  // namespace penumbra
