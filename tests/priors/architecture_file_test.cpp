/// Architectures in files: JSON, YAML, and the official configurations that build upon one another.
#include "priors/architecture_file.h"

#include <gtest/gtest.h>

#include "networks/network.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::contains;

struct ArchitectureFile : testing::Test {
  fs::path folder = test::scratch();
  json options{{"model_channels", 32},
               {"channel_mult", {0.5, 1, 1.5}},
               {"use_embed", true},
               {"num_classes", nullptr},
               {"network_mode", "sigma"}};

  json read(const std::string& name, const std::string& text) const {
    test::write_text(folder / name, text);
    std::vector<std::filesystem::path> bases;
    return read_architecture(folder / name, bases);
  }
  void expect_refused(const std::string& name, const std::string& text, const std::vector<std::string>& words) const {
    const auto message = test::message_of([&] { read(name, text); });
    for (const auto& word : words) EXPECT_TRUE(contains(message, word)) << word << " in: " << message;
    EXPECT_TRUE(contains(message, name)) << message;
  }
};

TEST_F(ArchitectureFile, IsTheOptionsAloneOrUnderAKey) {
  EXPECT_EQ(read("a.json", options.dump()), options);
  for (const auto* key : {"config", "architecture", "score_fn"})
    EXPECT_EQ(read("a.json", json{{key, options}, {"params", {1, 2}}}.dump()), options) << key;
  EXPECT_EQ(read("a.json", json{{"model", {{"name", "PMC"}, {"score_fn", options}}}}.dump()), options);
}

TEST_F(ArchitectureFile, MayBeYaml) {
  EXPECT_EQ(read("a.yaml", options.dump()), options);  // JSON is YAML
  EXPECT_EQ(read("a.yml",
                 "model_channels: 32\nchannel_mult: [0.5, 1, 1.5]\nuse_embed: True\nnum_classes: null\n"
                 "network_mode: sigma\n"),
            options);
  EXPECT_EQ(read("a.yaml", "a: '32'\nb: FALSE\nc: 1e3\nd: -0.5\ne: ~\nf: [16,8]"),
            (json{{"a", "32"}, {"b", false}, {"c", 1000}, {"d", -0.5}, {"e", nullptr}, {"f", {16, 8}}}));
}

TEST_F(ArchitectureFile, YamlFillsInFromItsBase) {
  test::write_text(folder / "first.yaml", "model: {score_fn: {model_channels: 1, network_mode: TBD}, gamma: 3}");
  test::write_text(folder / "second.yaml", "_BASE_: first.yaml\nmodel: {score_fn: {model_channels: 2, dims: 2}}");
  EXPECT_EQ(read("third.yaml", "_BASE_: ./second.yaml\nmodel: {name: x, score_fn: {network_mode: sigma}}"),
            (json{{"model_channels", 2}, {"dims", 2}, {"network_mode", "sigma"}}));
}

TEST_F(ArchitectureFile, IsRefusedWhereItIsNone) {
  expect_refused("a.json", "{", {"expected JSON"});
  expect_refused("a.json", "model_channels: 32", {"expected JSON", ".yaml"});
  expect_refused("a.json", "[1, 2]", {"an object of options, found array"});
  expect_refused("a.json", "", {"expected JSON"});
  expect_refused("a.json", std::string(100000, '['), {"64 levels"});
  expect_refused("a.yaml", std::string(100000, '['), {"64 levels"});
  expect_refused("a.yaml", "a: [", {"not YAML"});
  expect_refused("a.yaml", "", {"an object of options, found null"});
  expect_refused("a.yaml", "_BASE_: a.yaml", {"_BASE_", "at most 8"});
  expect_refused("a.yaml", "_BASE_: gone.yaml", {"_BASE_", "gone.yaml"});
  expect_refused("a.yaml", "_BASE_: .", {"_BASE_", "existing file"});
  expect_refused("a.yaml", "_BASE_: [1]", {"_BASE_"});
  test::write_text(folder / "list.yaml", "[1]");
  const auto message = test::message_of([&] { read("a.yaml", "_BASE_: list.yaml"); });
  EXPECT_TRUE(contains(message, "list.yaml: expected keys")) << message;
}

TEST_F(ArchitectureFile, TextsAndSingleNumbersAreLists) {
  const auto channels = [&](const json& mult) {
    options["channel_mult"] = mult;
    options["model_channels"] = 64;
    return Architecture(options, "test").to_json()["channel_mult"];
  };
  EXPECT_EQ(channels("1, 2,3"), json({1.0, 2.0, 3.0}));
  EXPECT_EQ(channels("(0.5, 1)"), json({0.5, 1.0}));
  EXPECT_EQ(channels(2), json::array({2.0}));
  for (const auto* wrong : {"1,,2", "one", "(", "1],[2"}) EXPECT_THROW(channels(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace penumbra
